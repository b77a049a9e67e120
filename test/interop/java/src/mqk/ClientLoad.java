package mqk;

import com.alibaba.fastjson.JSONObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

/**
 * Sync sends of one unmodified producer from many threads: NAMESRV TOPIC THREADS BODY_BYTES WARM_SECONDS SECONDS BROKER_PID.
 * Prints one JSON line: messages, seconds, latencies in microseconds, errors by exception, the broker's CPU and memory.
 */
public final class ClientLoad {
    /** Linux counts a process's time in hundredths of a second. */
    private static final double MICROS_PER_TICK = 10_000;

    private static volatile boolean measuring;
    private static volatile boolean stopping;

    private final DefaultMQProducer producer;
    private final String topic;
    private final byte[] body;
    private final List<Sender> senders = new ArrayList<>();

    private ClientLoad(DefaultMQProducer producer, String topic, int threads, int bodyBytes) {
        this.producer = producer;
        this.topic = topic;
        body = new byte[bodyBytes];
        Arrays.fill(body, (byte) 'x');
        for (int t = 0; t < threads; t++) {
            senders.add(new Sender(t));
        }
    }

    public static void main(String[] args) {
        try {
            send(args);
            System.exit(0);
        } catch (Throwable e) {
            // The client's threads would keep the process.
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void send(String[] args) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("client_load");
        producer.setNamesrvAddr(args[0]);
        producer.setDefaultTopicQueueNums(8);
        producer.setRetryTimesWhenSendFailed(0); // each failure counts
        producer.start();
        // The first send makes the topic: that is not part of the load.
        producer.send(new Message(args[1], "first".getBytes(StandardCharsets.US_ASCII)), 30_000);
        ClientLoad load = new ClientLoad(producer, args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        System.out.println(load.run(Integer.parseInt(args[4]), Integer.parseInt(args[5]), args[6]).toJSONString());
        producer.shutdown();
    }

    private JSONObject run(int warmSeconds, int seconds, String brokerPid) throws Exception {
        senders.forEach(Thread::start);
        Thread.sleep(warmSeconds * 1000L);
        double cpuBefore = cpuMicros(brokerPid);
        double ownBefore = cpuMicros("self");
        long began = System.nanoTime();
        measuring = true;
        Thread.sleep(seconds * 1000L);
        measuring = false;
        double took = (System.nanoTime() - began) / 1e9;
        double cpu = cpuMicros(brokerPid) - cpuBefore;
        double own = cpuMicros("self") - ownBefore;
        double rssAnon = rssAnonMebibytes(brokerPid);
        stopping = true;
        JSONObject errors = new JSONObject();
        int count = 0;
        for (Sender sender : senders) {
            sender.join();
            sender.errors.forEach((name, times) -> errors.merge(name, times, (a, b) -> (Integer) a + (Integer) b));
            count += sender.count;
        }
        long[] all = new long[count];
        int at = 0;
        for (Sender sender : senders) {
            System.arraycopy(sender.nanos, 0, all, at, sender.count);
            at += sender.count;
        }
        Arrays.sort(all);
        return new JSONObject().fluentPut("messages", count).fluentPut("seconds", took)
            .fluentPut("messagesPerSecond", count / took)
            .fluentPut("latencyMicros", new JSONObject().fluentPut("p50", percentile(all, 0.5))
                .fluentPut("p99", percentile(all, 0.99)).fluentPut("p999", percentile(all, 0.999)))
            .fluentPut("errors", errors).fluentPut("clientCpuMicrosPerMessage", own / Math.max(1, count))
            .fluentPut("broker", new JSONObject().fluentPut("cpuMicrosPerMessage", cpu / Math.max(1, count))
                .fluentPut("rssAnonMebibytes", rssAnon));
    }

    private static double percentile(long[] sorted, double share) {
        return sorted.length == 0 ? 0 : sorted[(int) Math.min(sorted.length - 1L, (long) (sorted.length * share))] / 1e3;
    }

    /** User and system time of a process so far. Its name may hold spaces: the fields count from behind the last bracket. */
    private static double cpuMicros(String pid) throws Exception {
        String stat = Files.readString(Path.of("/proc", pid, "stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * MICROS_PER_TICK;
    }

    private static double rssAnonMebibytes(String pid) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc", pid, "status"))) {
            if (line.startsWith("RssAnon:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) / 1024.0;
            }
        }
        throw new IllegalStateException("/proc/" + pid + "/status has no RssAnon");
    }

    /** One thread; its figures are its own until it ended. */
    private final class Sender extends Thread {
        private long[] nanos = new long[1 << 16];
        private int count;
        private final ConcurrentHashMap<String, Integer> errors = new ConcurrentHashMap<>();

        private Sender(int number) {
            super("client-load-" + number);
        }

        @Override
        public void run() {
            while (!stopping) {
                boolean counts = measuring;
                long began = System.nanoTime();
                String error = sendOnce();
                // What ends behind the measured time does not count.
                if (!counts || !measuring) {
                    continue;
                }
                if (error == null) {
                    add(System.nanoTime() - began);
                } else {
                    errors.merge(error, 1, Integer::sum);
                }
            }
        }

        private String sendOnce() {
            try {
                SendStatus status = producer.send(new Message(topic, body)).getSendStatus();
                return status == SendStatus.SEND_OK ? null : status.name();
            } catch (Exception e) {
                return e.getClass().getSimpleName();
            }
        }

        private void add(long took) {
            if (count == nanos.length) {
                nanos = Arrays.copyOf(nanos, count * 2);
            }
            nanos[count++] = took;
        }
    }
}
