package mqk;

import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Each message says how it ends: its property "local" when it is sent, its property "checked" once checks are answered. */
public final class TransactionProducer extends TransactionMQProducer implements TransactionListener {
    private volatile boolean answering;

    public TransactionProducer() {
        setTransactionListener(this);
    }

    /** Until then every check is answered UNKNOW. */
    public void setAnswering(boolean answering) {
        this.answering = answering;
    }

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object arg) {
        return LocalTransactionState.valueOf(message.getUserProperty("local"));
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        return answering ? LocalTransactionState.valueOf(message.getUserProperty("checked")) : LocalTransactionState.UNKNOW;
    }
}
