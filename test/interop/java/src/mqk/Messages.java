package mqk;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.filter.ExpressionType;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Messages, queues, results and expressions between their Java classes and JSON; bodies are base64. */
final class Messages {
    private Messages() {
    }

    static Message message(JSONObject json) {
        Message message = new Message(json.getString("topic"), Base64.getDecoder().decode(json.getString("body")));
        message.setFlag(json.getIntValue("flag"));
        if (json.containsKey("tags")) {
            message.setTags(json.getString("tags"));
        }
        if (json.containsKey("keys")) {
            message.setKeys(json.getString("keys"));
        }
        if (json.containsKey("wait")) {
            message.setWaitStoreMsgOK(json.getBooleanValue("wait"));
        }
        if (json.containsKey("delayTimeLevel")) {
            message.setDelayTimeLevel(json.getIntValue("delayTimeLevel"));
        }
        JSONObject properties = json.getJSONObject("properties");
        if (properties != null) {
            properties.forEach((name, value) -> message.putUserProperty(name, String.valueOf(value)));
        }
        return message;
    }

    static List<Message> messages(JSONArray json) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < json.size(); i++) {
            messages.add(message(json.getJSONObject(i)));
        }
        return messages;
    }

    static JSONObject json(MessageExt message) {
        JSONObject json = new JSONObject();
        json.put("topic", message.getTopic());
        json.put("queueId", message.getQueueId());
        json.put("queueOffset", message.getQueueOffset());
        json.put("commitLogOffset", message.getCommitLogOffset());
        json.put("msgId", message.getMsgId());
        json.put("offsetMsgId", message instanceof MessageClientExt ? ((MessageClientExt) message).getOffsetMsgId() : null);
        json.put("body", message.getBody() == null ? "" : Base64.getEncoder().encodeToString(message.getBody()));
        json.put("properties", message.getProperties());
        json.put("flag", message.getFlag());
        json.put("sysFlag", message.getSysFlag());
        json.put("storeSize", message.getStoreSize());
        json.put("bodyCRC", message.getBodyCRC());
        json.put("bornTimestamp", message.getBornTimestamp());
        json.put("storeTimestamp", message.getStoreTimestamp());
        json.put("bornHost", String.valueOf(message.getBornHost()));
        json.put("storeHost", String.valueOf(message.getStoreHost()));
        json.put("reconsumeTimes", message.getReconsumeTimes());
        return json;
    }

    /** What sendMessageBack reads of a consumed message. */
    static MessageExt stored(JSONObject json) {
        MessageExt message = new MessageExt();
        message.setTopic(json.getString("topic"));
        message.setMsgId(json.getString("msgId"));
        message.setCommitLogOffset(json.getLongValue("commitLogOffset"));
        message.setReconsumeTimes(json.getIntValue("reconsumeTimes"));
        return message;
    }

    static JSONArray json(Collection<?> messages) {
        JSONArray json = new JSONArray();
        messages.forEach(message -> json.add(message instanceof MessageExt ? json((MessageExt) message) : message));
        return json;
    }

    static JSONObject json(SendResult result) {
        return new JSONObject().fluentPut("status", result.getSendStatus().name())
            .fluentPut("msgId", result.getMsgId())
            .fluentPut("offsetMsgId", result.getOffsetMsgId())
            .fluentPut("queue", result.getMessageQueue())
            .fluentPut("queueOffset", result.getQueueOffset())
            .fluentPut("regionId", result.getRegionId());
    }

    static MessageQueue queue(JSONObject json) {
        return new MessageQueue(json.getString("topic"), json.getString("brokerName"), json.getIntValue("queueId"));
    }

    static MessageSelector selector(JSONObject json) {
        String text = json.getString("text");
        return ExpressionType.SQL92.equals(json.getString("type")) ? MessageSelector.bySql(text) : MessageSelector.byTag(text);
    }
}
