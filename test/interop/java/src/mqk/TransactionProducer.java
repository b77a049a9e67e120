package mqk;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Each message says how it ends: its property "local" when it is sent, its property "checked" once checks are answered. With "local"
 * HELD the local transaction lasts until `release` and commits then.
 */
public final class TransactionProducer extends TransactionMQProducer implements TransactionListener {
    private final Map<String, Integer> checks = new ConcurrentHashMap<>();
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile boolean answering;

    public TransactionProducer() {
        setTransactionListener(this);
    }

    /** Until then every check is answered UNKNOW. */
    public void setAnswering(boolean answering) {
        this.answering = answering;
    }

    /** Lets the held local transactions commit. */
    public void release() {
        released.countDown();
    }

    /** How often this producer was asked, by the message's keys. */
    public Map<String, Integer> getChecks() {
        return checks;
    }

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object arg) {
        if (!"HELD".equals(message.getUserProperty("local"))) {
            return LocalTransactionState.valueOf(message.getUserProperty("local"));
        }
        try {
            released.await();
        } catch (InterruptedException e) {
            return LocalTransactionState.UNKNOW;
        }
        return LocalTransactionState.COMMIT_MESSAGE;
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        checks.merge(message.getKeys(), 1, Integer::sum);
        return answering ? LocalTransactionState.valueOf(message.getUserProperty("checked")) : LocalTransactionState.UNKNOW;
    }
}
