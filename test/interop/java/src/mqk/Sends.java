package mqk;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/** The four ways to send: sync, async, oneway (all with or without a chosen queue) and batch. */
final class Sends {
    private static final long TIMEOUT_MS = 10_000;

    private Sends() {
    }

    /** args: {"mode", "message" or "messages", "queue"?}; the result of a one-way send is null. */
    static Object send(DefaultMQProducer producer, JSONObject args) throws Exception {
        MessageQueue queue = args.containsKey("queue") ? Messages.queue(args.getJSONObject("queue")) : null;
        if (args.getString("mode").equals("batch")) {
            JSONArray messages = args.getJSONArray("messages");
            return Messages.json(queue == null ? producer.send(Messages.messages(messages), TIMEOUT_MS)
                : producer.send(Messages.messages(messages), queue, TIMEOUT_MS));
        }
        Message message = Messages.message(args.getJSONObject("message"));
        switch (args.getString("mode")) {
            case "sync":
                return Messages.json(queue == null ? producer.send(message, TIMEOUT_MS)
                    : producer.send(message, queue, TIMEOUT_MS));
            case "async":
                return Messages.json(async(producer, message, queue));
            case "oneway":
                if (queue == null) {
                    producer.sendOneway(message);
                } else {
                    producer.sendOneway(message, queue);
                }
                return null;
            default:
                throw new IllegalArgumentException("mode " + args.getString("mode"));
        }
    }

    private static SendResult async(DefaultMQProducer producer, Message message, MessageQueue queue) throws Exception {
        CompletableFuture<SendResult> sent = new CompletableFuture<>();
        SendCallback callback = new SendCallback() {
            @Override
            public void onSuccess(SendResult result) {
                sent.complete(result);
            }

            @Override
            public void onException(Throwable e) {
                sent.completeExceptionally(e);
            }
        };
        if (queue == null) {
            producer.send(message, callback, TIMEOUT_MS);
        } else {
            producer.send(message, queue, callback, TIMEOUT_MS);
        }
        try {
            return sent.get(TIMEOUT_MS * 2, TimeUnit.MILLISECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw e.getCause() instanceof Exception ? (Exception) e.getCause() : e;
        }
    }
}
