package mqk;

import com.alibaba.fastjson.JSONObject;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.filter.ExpressionType;
import org.apache.rocketmq.common.filter.FilterAPI;
import org.apache.rocketmq.common.message.MessageExt;

/** Listeners of push consumers: every message becomes a "message" event; the first attempts may be refused. */
final class Listeners {
    private Listeners() {
    }

    /** args: {"topic", "expression": {"type", "text"}, "orderly", "refusals": attempts answered RECONSUME_LATER}. */
    static void start(DefaultMQPushConsumer consumer, String handle, JSONObject args) throws Exception {
        subscribe(consumer, args.getString("topic"), args.getJSONObject("expression"));
        int refusals = args.getIntValue("refusals");
        if (args.getBooleanValue("orderly")) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) ->
                heard(handle, messages, refusals) ? ConsumeOrderlyStatus.SUCCESS
                    : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
                heard(handle, messages, refusals) ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS
                    : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        }
        consumer.start();
    }

    private static void subscribe(DefaultMQPushConsumer consumer, String topic, JSONObject expression) throws Exception {
        String type = expression == null ? ExpressionType.TAG : expression.getString("type");
        if (ExpressionType.isTagType(type) || ExpressionType.SQL92.equals(type)) {
            consumer.subscribe(topic, Messages.selector(expression));
            return;
        }
        // MessageSelector makes no others.
        consumer.subscribe(topic, "*");
        consumer.getDefaultMQPushConsumerImpl().getSubscriptionInner()
            .put(topic, FilterAPI.build(topic, expression.getString("text"), type));
    }

    private static boolean heard(String handle, List<MessageExt> messages, int refusals) {
        boolean accepted = true;
        for (MessageExt message : messages) {
            Lines.event("message", handle, Messages.json(message)
                .fluentPut("thread", Thread.currentThread().getName())
                .fluentPut("heardMs", System.nanoTime() / 1e6));
            accepted &= message.getReconsumeTimes() >= refusals;
        }
        return accepted;
    }
}
