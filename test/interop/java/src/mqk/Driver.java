package mqk;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/** Drives unmodified RocketMQ clients for the interop tests; support/driver.ts is its other end. */
public final class Driver {
    private static final Map<String, Object> CLIENTS = new ConcurrentHashMap<>();
    private static final Map<String, Load> LOADS = new ConcurrentHashMap<>();

    private Driver() {
    }

    public static void main(String[] args) throws Exception {
        Map<String, Lines.Op> ops = new HashMap<>();
        ops.put("create", Driver::create);
        ops.put("call", a -> Beans.call(client(a), a.getString("method"), a.getJSONArray("args")));
        ops.put("send", a -> Sends.send((DefaultMQProducer) client(a), a));
        ops.put("listen", a -> {
            Listeners.start((DefaultMQPushConsumer) client(a), a.getString("handle"), a);
            return null;
        });
        ops.put("close", a -> {
            Object client = CLIENTS.remove(a.getString("handle"));
            return client == null ? null : Beans.call(client, "shutdown", new JSONArray());
        });
        ops.put("load", a -> LOADS.put(a.getString("handle"), new Load((DefaultMQProducer) client(a),
            a.getString("topic"), a.getIntValue("threads"), a.getIntValue("bodyBytes"))) == null);
        ops.put("loadCount", a -> LOADS.get(a.getString("handle")).acknowledged());
        ops.put("loadStop", a -> LOADS.remove(a.getString("handle")).stop());
        ops.put("openStore", Stores::open);
        ops.put("closeStore", Stores::close);
        ops.put("settings", Stores::settings);
        ops.put("mqadmin", a -> Mqadmin.run(a.getJSONArray("args")));
        Lines.serve(ops);
    }

    /**
     * args: {"handle", "kind", "config": properties by name, "start": false for a consumer to be subscribed first,
     * "allocation": a push consumer's strategy, as for Allocations}.
     */
    private static Object create(JSONObject args) throws Exception {
        Object client = instance(args.getString("kind"));
        Beans.configure(client, args.getJSONObject("config"));
        if (args.containsKey("allocation")) {
            ((DefaultMQPushConsumer) client).setAllocateMessageQueueStrategy(
                Allocations.of(args.getJSONObject("allocation")));
        }
        if (args.getBooleanValue("start")) {
            Beans.call(client, "start", new JSONArray());
        }
        CLIENTS.put(args.getString("handle"), client);
        return null;
    }

    private static Object instance(String kind) {
        switch (kind) {
            case "producer":
                return new DefaultMQProducer();
            case "tracedProducer":
                return new DefaultMQProducer("interop_traced", true);
            case "tracedPush":
                return new DefaultMQPushConsumer("interop_traced", true);
            case "transaction":
                return new TransactionProducer();
            case "push":
                return new DefaultMQPushConsumer();
            case "litePull":
                return new DefaultLitePullConsumer();
            case "pull":
                return new DefaultMQPullConsumer();
            case "admin":
                return new DefaultMQAdminExt();
            default:
                throw new IllegalArgumentException("no such kind of client: " + kind);
        }
    }

    private static Object client(JSONObject args) {
        Object client = CLIENTS.get(args.getString("handle"));
        if (client == null) {
            throw new IllegalStateException("no client " + args.getString("handle"));
        }
        return client;
    }
}
