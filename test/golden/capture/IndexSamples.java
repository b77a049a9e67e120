import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.DispatchRequest;
import org.apache.rocketmq.store.config.BrokerRole;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.index.IndexService;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/** `IndexSamples DIR FILE`: index files that 4.9.7 builds in DIR from requests with chosen offsets and times, and what it finds there. */
public class IndexSamples {
    private static final int SLOTS = 16;
    private static final int ENTRIES = 40;
    private static final int RECORD = 1000;
    private static final long T0 = 1700000000000L;
    private static final List<Object> REQUESTS = new ArrayList<>();
    private static IndexService index;
    private static long time = T0;

    public static void main(String[] args) throws Exception {
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(args[0]);
        config.setStorePathCommitLog(args[0] + "/commitlog");
        config.setMaxHashSlotNum(SLOTS);
        config.setMaxIndexNum(ENTRIES);
        config.setHaListenPort(0);
        config.setBrokerRole(BrokerRole.ASYNC_MASTER);
        DefaultMessageStore store = new DefaultMessageStore(config, new BrokerStatsManager("c", true),
            (t, q, l, tags, at, bitmap, props) -> { }, new BrokerConfig());
        if (!store.load()) throw new IllegalStateException("load failed");
        index = new IndexService(store);
        build();
        List<Object> queries = new ArrayList<>();
        query(queries);
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("slots", SLOTS);
        out.put("entries", ENTRIES);
        out.put("recordBytes", RECORD);
        out.put("requests", REQUESTS);
        List<String> files = new ArrayList<>();
        File[] found = new File(args[0] + "/index").listFiles();
        Arrays.sort(found);
        for (File file : found) files.add(Base64.getEncoder().encodeToString(Files.readAllBytes(file.toPath())));
        out.put("files", files);
        out.put("queries", queries);
        Files.write(Paths.get(args[1]), JSON.toJSONString(out, SerializerFeature.PrettyFormat).getBytes("UTF-8"));
        System.exit(0);
    }

    private static void build() throws Exception {
        put("T", "UNIQ-0", "Aa BB", 0);
        for (int i = 1; i < 20; i++) put(i % 3 == 0 ? "Other" : "T", "UNIQ-" + i, i % 4 == 0 ? "same k" + i : "k" + i, 0);
        put("T", null, "", 0);
        put("T", null, " two  blanks ", 0);
        put("T", "UNIQ-p", "prepared", MessageSysFlag.TRANSACTION_PREPARED_TYPE);
        put("T", "UNIQ-c", "committed", MessageSysFlag.TRANSACTION_COMMIT_TYPE);
        put("T", "UNIQ-r", "rolledback", MessageSysFlag.TRANSACTION_ROLLBACK_TYPE);
        put("T", "twice", "twice twice", 0);
        put("T", "\u4e3b\u9898 \ud83d\ude80", "\u952e \ud83d\ude00 caf\u00e9", 0);
        put("T", null, smallestHash("T#"), 0);
        time -= 3600_000;
        put("T", "UNIQ-back", "back same", 0);
        put("T", "UNIQ-back2", "same", 0);
        time += 7200_000;
        put("T", "UNIQ-later", "later same", 0);
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 100; i++) many.append("many").append(i).append(' ');
        put("T", "UNIQ-many", many.toString(), 0);
        time += 3000L * Integer.MAX_VALUE;
        put("T", "UNIQ-far", "far same", 0);
        put("%RETRY%group", "UNIQ-retry", "same", 0);
        for (int i = 0; i < 10; i++) put("T", "UNIQ-end" + i, "same", 0);
    }

    private static void put(String topic, String uniqKey, String keys, int sysFlag) throws Exception {
        long offset = (long) REQUESTS.size() * RECORD;
        time += 250 + 700 * (REQUESTS.size() % 3);
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("topic", topic);
        row.put("uniqKey", uniqKey);
        row.put("keys", keys);
        row.put("sysFlag", sysFlag);
        row.put("offset", offset);
        row.put("storeTimestamp", time);
        REQUESTS.add(row);
        Thread.sleep(2);
        index.buildIndex(new DispatchRequest(topic, 0, offset, RECORD, 0, time, 0, keys, uniqKey, sysFlag, 0,
            Collections.<String, String>emptyMap()));
    }

    /** Base 31 with the digits A to _ : a key whose hash behind the prefix is Integer.MIN_VALUE. */
    private static String smallestHash(String prefix) {
        char[] key = new char[7];
        Arrays.fill(key, 'A');
        long value = (Integer.MIN_VALUE - (prefix + new String(key)).hashCode()) & 0xffffffffL;
        for (int i = 6; i >= 0; i--, value /= 31) key[i] += (char) (value % 31);
        String found = new String(key);
        if ((prefix + found).hashCode() != Integer.MIN_VALUE) throw new IllegalStateException(found);
        return found;
    }

    private static void query(List<Object> out) {
        String[] keys = {"Aa", "BB", "UNIQ-0", "k1", "k5", "same", "two", "blanks", "", "prepared", "committed", "rolledback", "twice",
            "\u952e", "\ud83d\ude00", "caf\u00e9", smallestHash("T#"), "back", "later", "many0", "many60", "many99", "UNIQ-many", "far",
            "UNIQ-far", "nobody", "UNIQ-end9"};
        for (String key : keys) ask(out, "T", key, 64, 0, Long.MAX_VALUE);
        ask(out, "Other", "k3", 64, 0, Long.MAX_VALUE);
        ask(out, "Other", "Aa", 64, 0, Long.MAX_VALUE);
        ask(out, "%RETRY%group", "same", 64, 0, Long.MAX_VALUE);
        for (int max : new int[] {0, 1, 2, 5, 200}) ask(out, "T", "same", max, 0, Long.MAX_VALUE);
        ask(out, "T", "same", 64, Long.MIN_VALUE, Long.MAX_VALUE);
        long[] times = {T0, T0 + 3000, T0 + 3100, T0 + 3999, T0 + 4000, T0 + 9000, T0 + 20_000};
        for (long begin : times) ask(out, "T", "same", 64, begin, Long.MAX_VALUE);
        for (long end : times) ask(out, "T", "same", 64, 0, end);
    }

    private static void ask(List<Object> out, String topic, String key, int max, long begin, long end) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("topic", topic);
        row.put("key", key);
        row.put("maxNum", max);
        row.put("begin", String.valueOf(begin));
        row.put("end", String.valueOf(end));
        row.put("offsets", index.queryOffset(topic, key, max, begin, end).getPhyOffsets());
        out.add(row);
    }
}
