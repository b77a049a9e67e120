import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.*;
import org.apache.rocketmq.client.consumer.listener.*;
import org.apache.rocketmq.client.producer.*;
import org.apache.rocketmq.common.*;
import org.apache.rocketmq.common.message.*;
import org.apache.rocketmq.common.protocol.body.*;
import org.apache.rocketmq.common.subscription.SubscriptionGroupConfig;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Talks once through every request that the real client and admin tool know, so that the proxy sees it. Arguments: name server
 * and broker address, both of the proxy; cluster; broker name. Errors of single steps are printed and passed over.
 */
public class CaptureClient {
    private static final String TOPIC = "CaptureTopic";
    private static final String GROUP = "capture_group";
    private static String namesrv;
    private static String broker;

    public static void main(String[] args) throws Exception {
        namesrv = args[0];
        broker = args[1];
        DefaultMQAdminExt admin = new DefaultMQAdminExt(20000);
        admin.setNamesrvAddr(namesrv);
        admin.start();
        TopicConfig topic = new TopicConfig(TOPIC, 2, 2, 6);
        attempt("topic", () -> { admin.createAndUpdateTopicConfig(broker, topic); return 0; });
        attempt("group", () -> { admin.createAndUpdateSubscriptionGroupConfig(broker, group(GROUP)); return 0; });
        TimeUnit.SECONDS.sleep(2);
        DefaultMQProducer producer = new DefaultMQProducer("capture_producer");
        producer.setNamesrvAddr(namesrv);
        producer.start();
        SendResult sent = producer.send(message("one"));
        if (args.length > 4) System.exit(0);
        attempt("one-way", () -> { producer.sendOneway(message("two")); return 0; });
        attempt("batch", () -> producer.send(Arrays.asList(message("three"), message("four"))));
        attempt("refused", () -> producer.send(new Message("SCHEDULE_TOPIC_XXXX", new byte[1])));
        consume();
        queries(admin, sent);
        administer(admin, args[2], args[3]);
        attempt("transaction", CaptureClient::transaction);
        attempt("request", () -> requestReply(producer));
        producer.shutdown();
        admin.shutdown();
        System.exit(0);
    }

    private static void attempt(String step, Callable<?> call) {
        try {
            System.out.println(step + ": " + call.call());
        } catch (Throwable error) {
            System.out.println(step + ": " + error);
        }
    }

    private static Message message(String body) {
        Message message = new Message(TOPIC, "TagA", "key-" + body, body.getBytes());
        message.putUserProperty("number", "1");
        return message;
    }

    private static SubscriptionGroupConfig group(String name) {
        SubscriptionGroupConfig config = new SubscriptionGroupConfig();
        config.setGroupName(name);
        return config;
    }

    private static DefaultMQPushConsumer consumer(String group, String instance, String expression) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName(instance);
        consumer.setConsumeFromWhere(org.apache.rocketmq.common.consumer.ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(TOPIC, expression);
        return consumer;
    }

    private static void consume() throws Exception {
        CountDownLatch seen = new CountDownLatch(4);
        DefaultMQPushConsumer first = consumer(GROUP, "c1", "TagA || TagB");
        first.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            seen.countDown();
            return messages.get(0).getReconsumeTimes() == 0 ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        first.start();
        seen.await(20, TimeUnit.SECONDS);
        DefaultMQPushConsumer second = consumer(GROUP, "c2", "TagA || TagB");
        second.registerMessageListener((MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        second.start();
        TimeUnit.SECONDS.sleep(3);
        DefaultMQPushConsumer ordered = consumer("capture_orderly", "c3", "*");
        ordered.registerMessageListener((MessageListenerOrderly) (messages, context) -> ConsumeOrderlyStatus.SUCCESS);
        ordered.start();
        DefaultMQPushConsumer sql = new DefaultMQPushConsumer("capture_sql");
        sql.setNamesrvAddr(namesrv);
        sql.setInstanceName("c4");
        sql.subscribe(TOPIC, MessageSelector.bySql("number > 0"));
        sql.registerMessageListener((MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        attempt("sql", () -> { sql.start(); return 0; });
        DefaultLitePullConsumer lite = new DefaultLitePullConsumer("capture_lite");
        lite.setNamesrvAddr(namesrv);
        lite.setInstanceName("c5");
        lite.subscribe(TOPIC, "*");
        lite.start();
        attempt("lite", () -> lite.poll(3000).size());
        DefaultMQAdminExt admin = new DefaultMQAdminExt(20000);
        admin.setNamesrvAddr(namesrv);
        admin.setInstanceName("whileRunning");
        admin.start();
        TimeUnit.SECONDS.sleep(12);
        String client = first.getDefaultMQPushConsumerImpl().getmQClientFactory().getClientId();
        attempt("consumer connection", () -> admin.examineConsumerConnectionInfo(GROUP).getConnectionSet().size());
        attempt("running info", () -> admin.getConsumerRunningInfo(GROUP, client, false).getProperties().size());
        attempt("producer connection", () -> admin.examineProducerConnectionInfo("capture_producer", TOPIC).getConnectionSet().size());
        attempt("producers", () -> admin.getAllProducerInfo(broker).getData().size());
        attempt("consume status", () -> admin.getConsumeStatus(TOPIC, GROUP, "").size());
        attempt("reset", () -> admin.resetOffsetByTimestamp(TOPIC, GROUP, 0, true));
        attempt("clone", () -> { admin.cloneGroupOffset(GROUP, "capture_clone", TOPIC, true); return 0; });
        attempt("directly", () -> {
            MessageExt any = admin.viewMessage(TOPIC, admin.queryMessage(TOPIC, "key-one", 1, 0, Long.MAX_VALUE).getMessageList().get(0).getMsgId());
            return admin.consumeMessageDirectly(GROUP, client, TOPIC, any.getMsgId()).getConsumeResult();
        });
        admin.shutdown();
        lite.shutdown();
        attempt("sql", () -> { sql.shutdown(); return 0; });
        ordered.shutdown();
        second.shutdown();
        first.shutdown();
    }

    @SuppressWarnings("deprecation")
    private static void pullBadly(MessageQueue queue) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("capture_pull");
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName("pull");
        consumer.start();
        attempt("pull beyond the end", () -> consumer.pull(queue, "*", 100000, 32).getPullStatus());
        attempt("pull what nobody sent", () -> consumer.pull(queue, "TagZ", 0, 32).getPullStatus());
        attempt("pull at the end", () -> consumer.pull(queue, "*", consumer.maxOffset(queue), 32).getPullStatus());
        consumer.shutdown();
    }

    private static void queries(DefaultMQAdminExt admin, SendResult sent) {
        MessageQueue queue = sent.getMessageQueue();
        attempt("pull", () -> { pullBadly(queue); return 0; });
        attempt("max offset", () -> admin.maxOffset(queue));
        attempt("min offset", () -> admin.minOffset(queue));
        attempt("search offset", () -> admin.searchOffset(queue, System.currentTimeMillis()));
        attempt("earliest", () -> admin.earliestMsgStoreTime(queue));
        String port = String.format("%08X", Integer.parseInt(broker.split(":")[1]));
        String id = sent.getOffsetMsgId();
        String here = id.substring(0, 8) + port + id.substring(16);
        attempt("view", () -> admin.viewMessage(here).getTopic());
        attempt("view nothing", () -> admin.viewMessage(here.substring(0, 16) + "00000000000FFFFF"));
        attempt("query", () -> admin.queryMessage(TOPIC, "key-one", 3, 0, Long.MAX_VALUE).getMessageList().size());
        attempt("query unique", () -> admin.queryMessageByUniqKey(TOPIC, sent.getMsgId(), 3, 0, Long.MAX_VALUE).getMessageList().size());
        attempt("route", () -> admin.examineTopicRouteInfo(TOPIC).getQueueDatas().size());
        attempt("no route", () -> admin.examineTopicRouteInfo("NoSuchTopic"));
        attempt("topic stats", () -> admin.examineTopicStats(TOPIC).getOffsetTable().size());
        attempt("consume stats", () -> admin.examineConsumeStats(GROUP).getOffsetTable().size());
        attempt("who", () -> admin.queryTopicConsumeByWho(TOPIC).getGroupList());
        attempt("time span", () -> admin.queryConsumeTimeSpan(TOPIC, GROUP).size());
        attempt("queue", () -> admin.queryConsumeQueue(broker, TOPIC, 0, 0, 2, GROUP).getQueueData().size());
        attempt("update offset", () -> { admin.updateConsumeOffset(broker, GROUP, queue, 1); return 0; });
    }

    private static void administer(DefaultMQAdminExt admin, String cluster, String brokerName) {
        attempt("runtime", () -> admin.fetchBrokerRuntimeStats(broker).getTable().size());
        attempt("broker config", () -> admin.getBrokerConfig(broker).size());
        Properties change = new Properties();
        change.setProperty("flushIntervalCommitLog", "500");
        attempt("update broker config", () -> { admin.updateBrokerConfig(broker, change); return 0; });
        attempt("clusters", () -> admin.examineBrokerClusterInfo().getClusterAddrTable());
        attempt("topics", () -> admin.fetchAllTopicList().getTopicList().size());
        attempt("topics by cluster", () -> admin.fetchTopicsByCLuster(cluster).getTopicList().size());
        attempt("topic configs", () -> admin.getAllTopicConfig(broker, 20000).getTopicConfigTable().size());
        attempt("user topics", () -> admin.getUserTopicConfig(broker, false, 20000).getTopicConfigTable().size());
        attempt("resume", () -> admin.resumeCheckHalfMessage("7F00000100002A9F0000000000000000"));
        attempt("groups", () -> admin.getAllSubscriptionGroup(broker, 20000).getSubscriptionGroupTable().size());
        attempt("stats", () -> admin.viewBrokerStatsData(broker, "TOPIC_PUT_NUMS", TOPIC).getStatsMinute().getSum());
        attempt("no stats", () -> admin.viewBrokerStatsData(broker, "TOPIC_PUT_NUMS", "none"));
        attempt("broker consume stats", () -> admin.fetchConsumeStatsInBroker(broker, false, 20000).getTotalDiff());
        attempt("put kv", () -> { admin.createAndUpdateKvConfig("CAPTURE", "k", "v"); return 0; });
        attempt("get kv", () -> admin.getKVConfig("CAPTURE", "k"));
        attempt("no kv", () -> admin.getKVConfig("CAPTURE", "none"));
        attempt("kv list", () -> admin.getKVListByNamespace("CAPTURE").getTable());
        attempt("delete kv", () -> { admin.deleteKvConfig("CAPTURE", "k"); return 0; });
        attempt("wipe", () -> admin.wipeWritePermOfBroker(namesrv, brokerName));
        attempt("add", () -> admin.addWritePermOfBroker(namesrv, brokerName));
        attempt("namesrv config", () -> admin.getNameServerConfig(Collections.singletonList(namesrv)).size());
        Properties server = new Properties();
        server.setProperty("serverChannelMaxIdleTimeSeconds", "120");
        attempt("update namesrv config", () -> { admin.updateNameServerConfig(server, Collections.singletonList(namesrv)); return 0; });
        attempt("clean queues", () -> admin.cleanExpiredConsumerQueueByAddr(broker));
        attempt("clean topics", () -> admin.cleanUnusedTopicByAddr(broker));
        attempt("delete log", () -> admin.deleteExpiredCommitLogByAddr(broker));
        Set<String> addresses = new HashSet<>(Collections.singletonList(broker));
        attempt("other topic", () -> { admin.createAndUpdateTopicConfig(broker, new TopicConfig("CaptureOther", 1, 1, 6)); return 0; });
        attempt("delete topic", () -> { admin.deleteTopicInBroker(addresses, "CaptureOther"); return 0; });
        attempt("delete topic in namesrv", () -> {
            admin.deleteTopicInNameServer(new HashSet<>(Collections.singletonList(namesrv)), "CaptureOther", cluster);
            return 0;
        });
        attempt("delete group", () -> { admin.deleteSubscriptionGroup(broker, "capture_clone", true); return 0; });
        attempt("bad topic", () -> { admin.createAndUpdateTopicConfig(broker, new TopicConfig("TBW102", 1, 1, 6)); return 0; });
    }

    private static Object transaction() throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer("capture_transaction");
        producer.setNamesrvAddr(namesrv);
        producer.setInstanceName("tx");
        CountDownLatch checked = new CountDownLatch(1);
        producer.setTransactionListener(new TransactionListener() {
            public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
                return LocalTransactionState.UNKNOW;
            }

            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                checked.countDown();
                return LocalTransactionState.COMMIT_MESSAGE;
            }
        });
        producer.start();
        producer.sendMessageInTransaction(message("half"), null);
        boolean done = checked.await(60, TimeUnit.SECONDS);
        TimeUnit.SECONDS.sleep(2);
        producer.shutdown();
        return done;
    }

    private static Object requestReply(DefaultMQProducer producer) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("capture_reply");
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName("reply");
        consumer.setConsumeFromWhere(org.apache.rocketmq.common.consumer.ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(TOPIC, "Ask");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                attempt("reply", () -> producer.send(org.apache.rocketmq.client.utils.MessageUtil.createReplyMessage(message, "pong".getBytes())));
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        TimeUnit.SECONDS.sleep(3);
        Message answer = producer.request(new Message(TOPIC, "Ask", "ping".getBytes()), 40000);
        consumer.shutdown();
        return new String(answer.getBody());
    }
}
