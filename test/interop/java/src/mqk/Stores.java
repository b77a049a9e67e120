package mqk;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.ConfigManager;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.store.ConsumeQueue;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/** The store and the settings files of RocketMQ on a folder, without a broker around them: it costs no JVM of its own. */
final class Stores {
    private static final Map<String, DefaultMessageStore> OPEN = new ConcurrentHashMap<>();

    private Stores() {
    }

    /** args: {"folder", "config": properties of MessageStoreConfig}. Loads, recovers and dispatches as a broker's start does. */
    static JSONObject open(JSONObject args) throws Exception {
        AtomicInteger dispatched = new AtomicInteger();
        DefaultMessageStore store = new DefaultMessageStore(config(args), new BrokerStatsManager("interop", false),
            (topic, queueId, offset, tags, time, bits, properties) -> { }, new BrokerConfig());
        store.getDispatcherList().addLast(request -> dispatched.incrementAndGet());
        if (!store.load()) {
            throw new IllegalStateException("the store cannot be loaded");
        }
        store.start();
        OPEN.put(args.getString("folder"), store);
        return state(store).fluentPut("dispatched", dispatched.get());
    }

    /** args: {"folder"}. Ends as a broker's stop does. */
    static Object close(JSONObject args) {
        OPEN.remove(args.getString("folder")).shutdown();
        return null;
    }

    private static JSONObject state(DefaultMessageStore store) {
        JSONArray queues = new JSONArray();
        new TreeMap<>(store.getConsumeQueueTable()).forEach((topic, byId) ->
            new TreeMap<Integer, ConsumeQueue>(byId).forEach((queueId, queue) -> queues.add(new JSONObject()
                .fluentPut("topic", topic)
                .fluentPut("queueId", queueId)
                .fluentPut("minOffset", queue.getMinOffsetInQueue())
                .fluentPut("maxOffset", queue.getMaxOffsetInQueue()))));
        return new JSONObject().fluentPut("minPhyOffset", store.getMinPhyOffset())
            .fluentPut("maxPhyOffset", store.getMaxPhyOffset())
            .fluentPut("queues", queues);
    }

    /**
     * args: {"folder", "persist"}. Loads the files below config/ as a broker's start does; with "persist" writes them again as a
     * broker does. Returns what it holds then, as JSON texts by the file's name.
     */
    static JSONObject settings(JSONObject args) throws Exception {
        BrokerController broker = new BrokerController(new BrokerConfig(), new NettyServerConfig(),
            new NettyClientConfig(), config(args));
        Map<String, ConfigManager> managers = new TreeMap<>();
        managers.put("topics.json", broker.getTopicConfigManager());
        managers.put("subscriptionGroup.json", broker.getSubscriptionGroupManager());
        managers.put("consumerOffset.json", broker.getConsumerOffsetManager());
        managers.put("consumerFilter.json", broker.getConsumerFilterManager());
        JSONObject texts = new JSONObject();
        for (Map.Entry<String, ConfigManager> entry : managers.entrySet()) {
            if (!entry.getValue().load()) {
                throw new IllegalStateException(entry.getKey() + " cannot be loaded");
            }
            if (args.getBooleanValue("persist")) {
                entry.getValue().persist();
            }
            texts.put(entry.getKey(), entry.getValue().encode(true));
        }
        return texts;
    }

    private static MessageStoreConfig config(JSONObject args) throws Exception {
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(args.getString("folder"));
        config.setStorePathCommitLog(args.getString("folder") + "/commitlog");
        config.setHaListenPort(0);
        if (args.containsKey("config")) {
            Beans.configure(config, args.getJSONObject("config"));
        }
        return config;
    }
}
