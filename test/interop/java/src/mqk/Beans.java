package mqk;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.util.TypeUtils;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Sets properties and calls methods of the RocketMQ clients by name, so that a test needs no Java code of its own. */
final class Beans {
    private Beans() {
    }

    static void configure(Object bean, JSONObject config) throws Exception {
        for (Map.Entry<String, Object> entry : config.entrySet()) {
            String name = entry.getKey();
            String setter = "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
            call(bean, setter, new JSONArray().fluentAdd(entry.getValue()));
        }
    }

    static Object call(Object bean, String name, JSONArray args) throws Exception {
        for (Method method : bean.getClass().getMethods()) {
            if (method.getName().equals(name) && fits(method.getParameterTypes(), args)) {
                Object[] values = new Object[args.size()];
                for (int i = 0; i < values.length; i++) {
                    values[i] = value(args.get(i), method.getGenericParameterTypes()[i]);
                }
                return json(method.invoke(bean, values));
            }
        }
        throw new IllegalArgumentException("no " + name + " for these arguments: " + args);
    }

    private static boolean fits(Class<?>[] types, JSONArray args) {
        if (types.length != args.size()) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            if (!fits(types[i], args.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean fits(Class<?> type, Object arg) {
        if (arg instanceof String) {
            return type == String.class || type.isEnum();
        }
        if (arg instanceof Boolean) {
            return type == boolean.class || type == Boolean.class;
        }
        if (arg instanceof Number) {
            return type.isPrimitive() && type != boolean.class || Number.class.isAssignableFrom(type);
        }
        if (arg instanceof JSONArray) {
            return Collection.class.isAssignableFrom(type) || type.isArray();
        }
        boolean plain = type.isPrimitive() || type == String.class || Number.class.isAssignableFrom(type)
            || Collection.class.isAssignableFrom(type) || type.isInterface() && type != Map.class;
        return !plain;
    }

    private static Object value(Object arg, Type type) {
        if (type == Message.class) {
            return Messages.message((JSONObject) arg);
        }
        if (type == MessageExt.class) {
            return Messages.stored((JSONObject) arg);
        }
        if (type == MessageQueue.class) {
            return Messages.queue((JSONObject) arg);
        }
        if (type == MessageSelector.class) {
            return Messages.selector((JSONObject) arg);
        }
        if (arg instanceof JSONArray && type instanceof ParameterizedType) {
            Type element = ((ParameterizedType) type).getActualTypeArguments()[0];
            List<Object> values = new ArrayList<>();
            ((JSONArray) arg).forEach(item -> values.add(value(item, element)));
            return TypeUtils.cast(values, ((ParameterizedType) type).getRawType(), null);
        }
        return TypeUtils.cast(arg, type, null);
    }

    private static Object json(Object result) {
        if (result instanceof MessageExt) {
            return Messages.json((MessageExt) result);
        }
        if (result instanceof SendResult) {
            return Messages.json((SendResult) result);
        }
        if (result instanceof Collection) {
            return Messages.json((Collection<?>) result);
        }
        if (result instanceof Map) {
            JSONObject object = new JSONObject(true);
            ((Map<?, ?>) result).forEach((key, value) -> object.put(key(key), json(value)));
            return object;
        }
        if (result instanceof PullResult) {
            PullResult pulled = (PullResult) result;
            return new JSONObject().fluentPut("status", pulled.getPullStatus().name())
                .fluentPut("nextBeginOffset", pulled.getNextBeginOffset())
                .fluentPut("minOffset", pulled.getMinOffset())
                .fluentPut("maxOffset", pulled.getMaxOffset())
                .fluentPut("messages", pulled.getMsgFoundList() == null ? new JSONArray()
                    : Messages.json(pulled.getMsgFoundList()));
        }
        return result;
    }

    /** Queues stand as keys in many results; JSON knows none but strings. */
    private static String key(Object key) {
        if (key instanceof MessageQueue) {
            MessageQueue queue = (MessageQueue) key;
            return queue.getTopic() + "@" + queue.getBrokerName() + "@" + queue.getQueueId();
        }
        return String.valueOf(key);
    }
}
