package mqk;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

/** Sync sends from several threads until stopped; remembers what the broker acknowledged with SEND_OK. */
final class Load {
    private final JSONArray acknowledged = new JSONArray();
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger failed = new AtomicInteger();
    private volatile boolean stopping;

    Load(DefaultMQProducer producer, String topic, int threadCount, int bodyBytes) {
        for (int t = 0; t < threadCount; t++) {
            int number = t;
            threads.add(new Thread(() -> run(producer, topic, "t" + number, bodyBytes), "load-" + t));
        }
        threads.forEach(Thread::start);
    }

    private void run(DefaultMQProducer producer, String topic, String thread, int bodyBytes) {
        for (int sequence = 0; !stopping; sequence++) {
            String key = thread + "-" + sequence;
            StringBuilder body = new StringBuilder(key).append(' ');
            while (body.length() < bodyBytes) {
                body.append((char) ('a' + (body.length() + sequence) % 26));
            }
            try {
                SendResult result = producer.send(new Message(topic, "load", key,
                    body.toString().getBytes(StandardCharsets.US_ASCII)));
                if (result.getSendStatus() == SendStatus.SEND_OK) {
                    JSONObject ack = Messages.json(result).fluentPut("key", key).fluentPut("body", body.toString());
                    synchronized (acknowledged) {
                        acknowledged.add(ack);
                    }
                }
            } catch (Exception e) {
                failed.incrementAndGet();
            }
        }
    }

    int acknowledged() {
        synchronized (acknowledged) {
            return acknowledged.size();
        }
    }

    /** {"acknowledged": [send result with key and body], "failed": count}. */
    JSONObject stop() throws InterruptedException {
        stopping = true;
        for (Thread thread : threads) {
            thread.join();
        }
        return new JSONObject().fluentPut("acknowledged", acknowledged).fluentPut("failed", failed.get());
    }
}
