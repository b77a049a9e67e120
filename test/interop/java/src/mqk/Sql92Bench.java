package mqk;

import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONObject;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.broker.filter.MessageEvaluationContext;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.filter.FilterFactory;
import org.apache.rocketmq.filter.expression.Expression;

/**
 * How often a second the real filter decides, as at a pull: from the bytes of a record (4.9: ExpressionMessageFilter).
 * Input: one line of JSON {"records": [base64], "expressions", "millis", "rounds"}. Output: per expression a line with the best
 * rate and the share of true in percent.
 */
public final class Sql92Bench {
    private Sql92Bench() {
    }

    public static void main(String[] args) throws Exception {
        JSONObject task = JSON.parseObject(
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine());
        List<String> stored = task.getJSONArray("records").toJavaList(String.class);
        byte[][] records = new byte[stored.size()][];
        for (int i = 0; i < records.length; i++) {
            records[i] = Base64.getDecoder().decode(stored.get(i));
        }
        for (Object text : task.getJSONArray("expressions")) {
            Expression expression = FilterFactory.INSTANCE.get("SQL92").compile((String) text);
            double best = 0;
            long[] counts = new long[2];
            for (int round = 0; round < task.getIntValue("rounds"); round++) {
                best = Math.max(best, rate(expression, records, task.getLongValue("millis"), counts));
            }
            System.out.println(Math.round(best) + " " + 100 * counts[1] / counts[0]);
        }
    }

    private static double rate(Expression expression, byte[][] records, long millis, long[] counts) {
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long start = process.getProcessCpuTime();
        long end = start + millis * 1_000_000;
        long decided = 0;
        while (process.getProcessCpuTime() < end) {
            for (byte[] record : records) {
                counts[1] += matches(expression, record) ? 1 : 0;
            }
            decided += records.length;
        }
        counts[0] += decided;
        return decided * 1e9 / (process.getProcessCpuTime() - start);
    }

    private static boolean matches(Expression expression, byte[] record) {
        try {
            Map<String, String> properties = MessageDecoder.decodeProperties(ByteBuffer.wrap(record));
            Object value = expression.evaluate(new MessageEvaluationContext(properties));
            return value instanceof Boolean && (Boolean) value;
        } catch (Throwable e) {
            return false;
        }
    }
}
