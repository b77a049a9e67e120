import java.net.*;
import java.util.*;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.common.*;
import org.apache.rocketmq.common.message.*;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.apache.rocketmq.store.*;
import org.apache.rocketmq.store.config.*;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/**
 * Fills a small store with the store code of RocketMQ 4.9.7 itself: the source of store-java.json.
 *
 * javac and java with the jars of org.apache.rocketmq:rocketmq-broker:4.9.7 (on Java 17 with the --add-opens that RocketMQ's own
 * scripts use): `GoldenStore DIR` fills a new store; `GoldenStore DIR inspect` opens one and writes what it sees to inspect.json;
 * -Dcq=2000 sets the size of a queue file. For `headless` and `oneFile` the first log segment and the folder consumequeue were
 * removed and an abort file made before inspecting.
 */
public class GoldenStore {
    static DefaultMessageStore open(String dir) throws Exception {
        MessageStoreConfig c = new MessageStoreConfig();
        c.setStorePathRootDir(dir);
        c.setStorePathCommitLog(dir + "/commitlog");
        c.setMappedFileSizeCommitLog(4096);
        c.setMappedFileSizeConsumeQueue(Integer.getInteger("cq", 200));
        c.setMaxHashSlotNum(16);
        c.setMaxIndexNum(64);
        c.setHaListenPort(0);
        c.setDuplicationEnable(false);
        BrokerConfig bc = new BrokerConfig();
        bc.setLongPollingEnable(false);
        DefaultMessageStore s = new DefaultMessageStore(c, new BrokerStatsManager("c", true),
            (t, q, l, tags, time, bitmap, props) -> { }, bc);
        if (!s.load()) throw new IllegalStateException("load failed");
        s.start();
        return s;
    }
    static MessageExtBrokerInner message(String topic, int queueId, byte[] body, Map<String, String> props, int sysFlag,
        String bornHost) throws Exception {
        MessageExtBrokerInner m = new MessageExtBrokerInner();
        m.setTopic(topic);
        m.setQueueId(queueId);
        m.setBody(body);
        m.setSysFlag(sysFlag);
        m.setFlag(7);
        m.setBornTimestamp(1700000000123L);
        InetAddress born = InetAddress.getByName(bornHost);
        m.setBornHost(new InetSocketAddress(born, 40000));
        if (born instanceof Inet6Address) m.setBornHostV6Flag();
        m.setStoreHost(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 10911));
        m.setReconsumeTimes(0);
        for (Map.Entry<String, String> e : props.entrySet()) MessageAccessor.putProperty(m, e.getKey(), e.getValue());
        m.setPropertiesString(MessageDecoder.messageProperties2String(m.getProperties()));
        return m;
    }
    static Map<String, String> props(String... kv) {
        Map<String, String> p = new LinkedHashMap<>();
        for (int i = 0; i < kv.length; i += 2) p.put(kv[i], kv[i + 1]);
        return p;
    }
    public static void main(String[] a) throws Exception {
        DefaultMessageStore s = open(a[0]);
        if (a.length > 1) { inspect(s); return; }
        Random r = new Random(497);
        for (int i = 0; i < 22; i++) {
            byte[] body = new byte[i == 0 ? 0 : 20 + r.nextInt(500)];
            r.nextBytes(body);
            String tag = i % 4 == 0 ? "TagA" : i % 4 == 1 ? "\u6807\u7b7e" : i % 4 == 2 ? "a-very-long-tag-with-hash-overflow-0123456789" : "\ud83d\ude80";
            Map<String, String> p = i % 7 == 3 ? props("KEYS", "k" + i) : props("KEYS", "k" + i + " other", "UNIQ_KEY", "7F000001000" + i, "TAGS", tag);
            put(s, message("GoldenTopic", i % 2, body, p, i % 5 == 0 ? MessageSysFlag.MULTI_TAGS_FLAG : 0, i % 6 == 5 ? "fe80::1" : "10.1.2.3"));
        }
        byte[] body = "hello".getBytes(StandardCharsets.UTF_8);
        put(s, message("GoldenTopic", 0, body, props("TAGS", "P", "TRAN_MSG", "true"), MessageSysFlag.TRANSACTION_PREPARED_TYPE, "10.1.2.3"));
        put(s, message("GoldenTopic", 0, body, props("TAGS", "C"), MessageSysFlag.TRANSACTION_COMMIT_TYPE, "10.1.2.3"));
        put(s, message("GoldenTopic", 0, body, props("TAGS", "R"), MessageSysFlag.TRANSACTION_ROLLBACK_TYPE, "10.1.2.3"));
        put(s, message("SCHEDULE_TOPIC_XXXX", 2, body, props("DELAY", "3", "REAL_TOPIC", "GoldenTopic", "REAL_QID", "0", "TAGS", "D"), 0, "10.1.2.3"));
        put(s, message("SCHEDULE_TOPIC_XXXX", 17, body, props("DELAY", "99", "REAL_TOPIC", "GoldenTopic", "REAL_QID", "0"), 0, "10.1.2.3"));
        put(s, message("%RETRY%group", 0, body, props("TAGS", "first", "EMPTY", "", "TAGS2", "x"), 0, "10.1.2.3"));
        MessageExtBrokerInner odd = message("OddProps", 0, body, props(), 0, "10.1.2.3");
        odd.setPropertiesString("TAGS\u0001old\u0002TAGS\u0001new\u0002\u0001noname\u0002KEYS\u0001\u0002nosep\u0002KEYS\u0001k=1\u0001x\u0002");
        put(s, odd);
        while (s.dispatchBehindBytes() > 0) Thread.sleep(10);
        s.shutdown();
        System.exit(0);
    }
    static void inspect(DefaultMessageStore s) throws Exception {
        while (s.dispatchBehindBytes() > 0) Thread.sleep(10);
        StringBuilder out = new StringBuilder("{\"minPhysical\":" + s.getMinPhyOffset() + ",\"maxPhysical\":" + s.getMaxPhyOffset() + ",\"queues\":[");
        String sep = "";
        for (String topic : new TreeSet<>(s.getConsumeQueueTable().keySet()))
            for (Integer q : new TreeSet<>(s.getConsumeQueueTable().get(topic).keySet())) {
                long min = s.getMinOffsetInQueue(topic, q), max = s.getMaxOffsetInQueue(topic, q);
                out.append(sep + "{\"topic\":\"" + topic + "\",\"queueId\":" + q + ",\"min\":" + min + ",\"max\":" + max
                    + ",\"lastPhysical\":" + s.getConsumeQueueTable().get(topic).get(q).getMaxPhysicOffset() + ",\"byTime\":{");
                TreeSet<Long> times = new TreeSet<>();
                for (long o = min; o < max; o++) { long t = s.getMessageStoreTimeStamp(topic, q, o); for (int d = -2; d <= 2; d++) times.add(t + d); }
                times.add(0L); times.add(9999999999999L);
                String sep2 = "";
                for (long t : times) { out.append(sep2 + "\"" + t + "\":" + s.getOffsetInQueueByTime(topic, q, t)); sep2 = ","; }
                out.append("}}");
                sep = ",";
            }
        out.append("]}");
        java.nio.file.Files.write(java.nio.file.Paths.get("inspect.json"), out.toString().getBytes());
        s.shutdown();
        System.exit(0);
    }
    static int count = 0;
    static void put(DefaultMessageStore s, MessageExtBrokerInner m) throws Exception {
        PutMessageResult res = s.putMessage(m);
        Thread.sleep(count++ % 3 * 2);
        if (!res.isOk()) throw new IllegalStateException(String.valueOf(res));
    }
}
