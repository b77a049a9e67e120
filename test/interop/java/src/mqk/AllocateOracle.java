package mqk;

import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * What the client's allocation strategies answer. Input: per line {"strategy": as for Allocations, "clientId", "all": queues,
 * "clientIds"}. Output: per line {"name": the strategy's, and "queues" or the message of an IllegalArgumentException as "refused"}.
 */
public final class AllocateOracle {
    private AllocateOracle() {
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(JSON.toJSONString(answer(JSON.parseObject(line))));
        }
        out.flush();
    }

    private static JSONObject answer(JSONObject question) {
        AllocateMessageQueueStrategy strategy = Allocations.of(question.getJSONObject("strategy"));
        JSONObject answer = new JSONObject().fluentPut("name", strategy.getName());
        try {
            JSONArray taken = new JSONArray();
            for (MessageQueue queue : strategy.allocate("group", question.getString("clientId"),
                Allocations.queues(question.getJSONArray("all")),
                question.getJSONArray("clientIds").toJavaList(String.class))) {
                taken.add(new JSONArray().fluentAdd(queue.getTopic()).fluentAdd(queue.getBrokerName())
                    .fluentAdd(queue.getQueueId()));
            }
            return answer.fluentPut("queues", taken);
        } catch (IllegalArgumentException e) {
            return answer.fluentPut("refused", e.getMessage());
        }
    }
}
