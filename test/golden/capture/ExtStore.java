import java.io.File;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.message.*;
import org.apache.rocketmq.store.*;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/**
 * Fills small stores with the store code of RocketMQ 4.9.7 itself while enableConsumeQueueExt is on: the source of store-ext.json.
 * `ExtStore DIR` works in DIR and writes store-ext.json in the current folder. Compile and run it as README.md says; on Java 17 with
 * the --add-opens that RocketMQ's own scripts use.
 */
public class ExtStore {
    static final int SEGMENT = 4096, QUEUE = 200, EXT = 128;
    static int sent = 0;

    static DefaultMessageStore open(String dir, boolean ext) throws Exception {
        MessageStoreConfig c = new MessageStoreConfig();
        c.setStorePathRootDir(dir);
        c.setStorePathCommitLog(dir + "/commitlog");
        c.setMappedFileSizeCommitLog(SEGMENT);
        c.setMappedFileSizeConsumeQueue(QUEUE);
        c.setEnableConsumeQueueExt(ext);
        c.setMappedFileSizeConsumeQueueExt(EXT);
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

    static void put(DefaultMessageStore s, int count) throws Exception {
        String[] tags = { "TagA", "\u6807\u7b7e", "a-very-long-tag-with-hash-overflow-0123456789", "\ud83d\ude80", null };
        for (int i = 0; i < count; i++, sent++) {
            MessageExtBrokerInner m = new MessageExtBrokerInner();
            boolean delayed = sent % 7 == 6;
            m.setTopic(delayed ? "SCHEDULE_TOPIC_XXXX" : "ExtTopic");
            m.setQueueId(delayed ? 2 : sent % 3 == 2 ? 1 : 0);
            m.setBody(("body " + sent).getBytes(StandardCharsets.UTF_8));
            m.setBornTimestamp(1700000000123L);
            m.setBornHost(new InetSocketAddress("127.0.0.1", 40000));
            m.setStoreHost(new InetSocketAddress("127.0.0.1", 10911));
            if (delayed) MessageAccessor.putProperty(m, "DELAY", "3");
            String tag = tags[sent % tags.length];
            if (tag != null) MessageAccessor.putProperty(m, "TAGS", tag);
            m.setPropertiesString(MessageDecoder.messageProperties2String(m.getProperties()));
            PutMessageResult result = s.putMessage(m);
            if (!result.isOk()) throw new IllegalStateException(String.valueOf(result));
            Thread.sleep(sent % 3 * 2);
        }
    }

    static void close(DefaultMessageStore s) throws Exception {
        while (s.dispatchBehindBytes() > 0) Thread.sleep(10);
        Thread.sleep(50);
        s.shutdown();
    }

    static void run(String dir, boolean ext, int count) throws Exception {
        DefaultMessageStore s = open(dir, ext);
        put(s, count);
        close(s);
    }

    /** Files by path, base64 without the zeros at the end. */
    static String dump(Path dir, String name, boolean withLog) throws Exception {
        StringBuilder out = new StringBuilder("\"" + name + "\":{");
        String sep = "";
        List<Path> paths;
        try (Stream<Path> all = Files.walk(dir)) { paths = all.filter(Files::isRegularFile).sorted().collect(Collectors.toList()); }
        for (Path p : paths) {
            String path = dir.relativize(p).toString();
            if (!path.startsWith("consumequeue") && !(withLog && path.startsWith("commitlog"))) continue;
            byte[] bytes = Files.readAllBytes(p);
            int end = bytes.length;
            while (end > 0 && bytes[end - 1] == 0) end--;
            out.append(sep + "\n\"" + path + "\":\"" + Base64.getEncoder().encodeToString(Arrays.copyOf(bytes, end)) + "\"");
            sep = ",";
        }
        return out.append("}").toString();
    }

    static void copy(Path from, Path to) throws Exception {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path p : (Iterable<Path>) all::iterator) Files.copy(p, to.resolve(from.relativize(p).toString()));
        }
    }

    static void remove(Path dir) throws Exception {
        try (Stream<Path> all = Files.walk(dir)) { all.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete); }
    }

    public static void main(String[] a) throws Exception {
        Path root = Paths.get(a[0]), one = root.resolve("one");
        List<String> parts = new ArrayList<>();
        run(one.toString(), true, 30);
        parts.add(dump(one, "fresh", true));
        run(one.toString(), true, 7);
        parts.add(dump(one, "continued", true));
        run(one.toString(), false, 6);
        parts.add(dump(one, "off", true));
        run(one.toString(), true, 8);
        parts.add(dump(one, "on", true));

        // After a crash: what is there is dispatched again.
        Path repeated = root.resolve("repeated");
        copy(one, repeated);
        Files.createFile(repeated.resolve("abort"));
        run(repeated.toString(), true, 0);
        parts.add(dump(repeated, "repeated", false));

        Path rebuilt = root.resolve("rebuilt");
        copy(one, rebuilt);
        remove(rebuilt.resolve("consumequeue"));
        remove(rebuilt.resolve("consumequeue_ext"));
        Files.delete(rebuilt.resolve("checkpoint"));
        Files.createFile(rebuilt.resolve("abort"));
        run(rebuilt.toString(), true, 0);
        parts.add(dump(rebuilt, "rebuilt", false));

        // Bitmaps of 9 bytes for every second record, as a dispatcher of the broker would set them.
        Path bitmaps = root.resolve("bitmaps");
        DefaultMessageStore s = open(bitmaps.toString(), true);
        s.getDispatcherList().addFirst(request -> {
            if (request.getConsumeQueueOffset() % 2 == 1) return;
            byte[] map = new byte[9];
            Arrays.fill(map, (byte) (request.getConsumeQueueOffset() + 200));
            request.setBitMap(map);
        });
        put(s, 20);
        close(s);
        parts.add(dump(bitmaps, "bitmaps", true));

        StringBuilder out = new StringBuilder("{\"segmentBytes\":" + SEGMENT + ",\"queueFileBytes\":" + QUEUE + ",\"extFileBytes\":" + EXT
            + ",\"delayLevels\":\"" + new MessageStoreConfig().getMessageDelayLevel() + "\",\n\"stores\":{\n" + String.join(",\n", parts) + "}}\n");
        Files.write(Paths.get("store-ext.json"), out.toString().getBytes(StandardCharsets.UTF_8));
        System.exit(0);
    }
}
