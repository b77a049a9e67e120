import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.rocketmq.common.DataVersion;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.TopicFilterType;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.admin.*;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.message.MessageQueueForC;
import org.apache.rocketmq.common.protocol.body.*;
import org.apache.rocketmq.common.protocol.header.GetConsumerListByGroupResponseBody;
import org.apache.rocketmq.common.protocol.heartbeat.*;
import org.apache.rocketmq.common.protocol.route.*;
import org.apache.rocketmq.common.subscription.SubscriptionGroupConfig;
import org.apache.rocketmq.remoting.protocol.LanguageCode;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;
import org.apache.rocketmq.store.schedule.DelayOffsetSerializeWrapper;

/** Prints one body of each kind as RocketMQ writes it: {"name": ..., "text": ...}, or "hex" for those that are no text. */
public class BodySamples {
    private static final List<Map<String, Object>> ROWS = new ArrayList<>();
    private static final MessageQueue Q0 = new MessageQueue("T", "b", 0);
    private static final MessageQueue Q1 = new MessageQueue("\u4e3b\u9898\"x", "broker-a", 1);

    public static void main(String[] args) throws Exception {
        topics();
        groups();
        clients();
        routes();
        tables();
        stats();
        running();
        System.out.println(JSON.toJSONString(ROWS, SerializerFeature.PrettyFormat));
    }

    private static void text(String name, byte[] body) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", name);
        row.put("text", new String(body, java.nio.charset.StandardCharsets.UTF_8));
        ROWS.add(row);
    }

    private static void text(String name, RemotingSerializable body) {
        text(name, body.encode());
    }

    private static DataVersion version() {
        DataVersion version = new DataVersion();
        version.setTimestamp(1700000000123L);
        version.getCounter().set(7);
        return version;
    }

    private static TopicConfigSerializeWrapper topicTable() {
        TopicConfigSerializeWrapper wrapper = new TopicConfigSerializeWrapper();
        wrapper.setDataVersion(version());
        TopicConfig second = new TopicConfig("%RETRY%G", 1, 1, 6);
        second.setOrder(true);
        second.setTopicSysFlag(2);
        second.setTopicFilterType(TopicFilterType.MULTI_TAG);
        wrapper.getTopicConfigTable().put("T", new TopicConfig("T", 8, 4, 6));
        wrapper.getTopicConfigTable().put(second.getTopicName(), second);
        return wrapper;
    }

    private static void topics() throws Exception {
        text("DataVersion", version());
        text("TopicConfigSerializeWrapper", topicTable());
        RegisterBrokerBody register = new RegisterBrokerBody();
        register.setTopicConfigSerializeWrapper(topicTable());
        register.setFilterServerList(Arrays.asList("10.0.0.1:1", "10.0.0.2:2"));
        text("RegisterBrokerBody", register.encode(false));
        byte[] compressed = register.encode(true);
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("name", "RegisterBrokerBody compressed");
        row.put("hex", UtilAll.bytes2string(compressed));
        row.put("crc32", UtilAll.crc32(compressed));
        ROWS.add(row);
        TopicList list = new TopicList();
        list.getTopicList().addAll(Arrays.asList("T", "%RETRY%G", "TBW102"));
        text("TopicList", list);
        list.setBrokerAddr("127.0.0.1:10911");
        text("TopicList brokerAddr", list);
    }

    private static void groups() {
        SubscriptionGroupConfig group = new SubscriptionGroupConfig();
        group.setGroupName("G");
        text("SubscriptionGroupConfig", RemotingSerializable.encode(group));
        SubscriptionGroupConfig other = new SubscriptionGroupConfig();
        other.setGroupName("H-1");
        other.setConsumeEnable(false);
        other.setConsumeFromMinEnable(false);
        other.setConsumeBroadcastEnable(false);
        other.setRetryQueueNums(2);
        other.setRetryMaxTimes(3);
        other.setBrokerId(4);
        other.setWhichBrokerWhenConsumeSlowly(5);
        other.setNotifyConsumerIdsChangedEnable(false);
        SubscriptionGroupWrapper wrapper = new SubscriptionGroupWrapper();
        wrapper.setDataVersion(version());
        wrapper.getSubscriptionGroupTable().put("G", group);
        wrapper.getSubscriptionGroupTable().put("H-1", other);
        text("SubscriptionGroupWrapper", wrapper);
        GroupList groupList = new GroupList();
        groupList.getGroupList().addAll(Arrays.asList("G", "H-1"));
        text("GroupList", groupList);
        GetConsumerListByGroupResponseBody ids = new GetConsumerListByGroupResponseBody();
        ids.setConsumerIdList(Arrays.asList("10.0.0.1@1#2", "10.0.0.2@DEFAULT"));
        text("ConsumerList", ids);
    }

    private static SubscriptionData subscription(String topic) {
        SubscriptionData data = new SubscriptionData(topic, "TagA || \u6807\u7b7e");
        data.getTagsSet().addAll(Arrays.asList("TagA", "\u6807\u7b7e"));
        data.getCodeSet().addAll(Arrays.asList("TagA".hashCode(), "\u6807\u7b7e".hashCode()));
        data.setSubVersion(1700000000456L);
        return data;
    }

    private static void clients() {
        HeartbeatData heartbeat = new HeartbeatData();
        heartbeat.setClientID("10.0.0.1@1#2");
        ProducerData producer = new ProducerData();
        producer.setGroupName("P");
        heartbeat.getProducerDataSet().add(producer);
        ConsumerData consumer = new ConsumerData();
        consumer.setGroupName("G");
        consumer.setConsumeType(ConsumeType.CONSUME_PASSIVELY);
        consumer.setMessageModel(MessageModel.CLUSTERING);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET);
        consumer.getSubscriptionDataSet().add(subscription("T"));
        heartbeat.getConsumerDataSet().add(consumer);
        text("HeartbeatData", heartbeat);
        CheckClientRequestBody check = new CheckClientRequestBody();
        check.setClientId("c");
        check.setGroup("G");
        check.setSubscriptionData(subscription("T"));
        text("CheckClientRequestBody", check);
        Connection connection = new Connection();
        connection.setClientId("c");
        connection.setClientAddr("10.0.0.1:5");
        connection.setLanguage(LanguageCode.GO);
        connection.setVersion(407);
        ConsumerConnection consumers = new ConsumerConnection();
        consumers.getConnectionSet().add(connection);
        consumers.getSubscriptionTable().put("T", subscription("T"));
        consumers.setConsumeType(ConsumeType.CONSUME_ACTIVELY);
        consumers.setMessageModel(MessageModel.BROADCASTING);
        consumers.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_TIMESTAMP);
        text("ConsumerConnection", consumers);
        ProducerConnection producers = new ProducerConnection();
        producers.getConnectionSet().add(connection);
        text("ProducerConnection", producers);
        ProducerInfo info = new ProducerInfo("c", "10.0.0.1", LanguageCode.JAVA, 407, 1700000000789L);
        text("ProducerTableInfo", new ProducerTableInfo(Collections.singletonMap("P", Arrays.asList(info))));
        LockBatchRequestBody lock = new LockBatchRequestBody();
        lock.setConsumerGroup("G");
        lock.setClientId("c");
        lock.getMqSet().addAll(Arrays.asList(Q0, Q1));
        text("LockBatchRequestBody", lock);
        LockBatchResponseBody locked = new LockBatchResponseBody();
        locked.getLockOKMQSet().add(Q0);
        text("LockBatchResponseBody", locked);
    }

    private static void routes() {
        HashMap<Long, String> addresses = new HashMap<>();
        for (long id : new long[] {0, 2, 10}) addresses.put(id, "10.0.0." + id + ":10911");
        BrokerData broker = new BrokerData("DefaultCluster", "\u4e3b-a", addresses);
        QueueData queue = new QueueData();
        queue.setBrokerName("\u4e3b-a");
        queue.setReadQueueNums(8);
        queue.setWriteQueueNums(4);
        queue.setPerm(6);
        queue.setTopicSysFlag(1);
        TopicRouteData route = new TopicRouteData();
        route.setBrokerDatas(Arrays.asList(broker));
        route.setQueueDatas(Arrays.asList(queue));
        route.setFilterServerTable(new HashMap<>());
        text("TopicRouteData", route);
        text("TopicRouteData standard", standard(route));
        route.setOrderTopicConf("a:1;b:\u007f<'/>\ud83d\ude00");
        route.getFilterServerTable().put("10.0.0.2:10911", Arrays.asList("f"));
        route.getFilterServerTable().put("10.0.0.0:10911", Arrays.asList("g", "h"));
        text("TopicRouteData order", route);
        text("TopicRouteData order standard", standard(route));
        ClusterInfo cluster = new ClusterInfo();
        cluster.setBrokerAddrTable(new HashMap<>(Collections.singletonMap("\u4e3b-a", broker)));
        cluster.setClusterAddrTable(new HashMap<>(Collections.singletonMap("DefaultCluster", Collections.singleton("\u4e3b-a"))));
        text("ClusterInfo", cluster);
    }

    /** As the name server answers 4.9.4 and later. */
    private static byte[] standard(TopicRouteData route) {
        return route.encode(SerializerFeature.BrowserCompatible, SerializerFeature.QuoteFieldNames,
            SerializerFeature.SkipTransientField, SerializerFeature.MapSortField);
    }

    private static void tables() {
        KVTable table = new KVTable();
        table.getTable().put("brokerVersion", "407");
        table.getTable().put("k\u0001", "v\n\u2028\u0085\ud83d\ude00\\");
        text("KVTable", table);
        ConsumerOffsetSerializeWrapper offsets = new ConsumerOffsetSerializeWrapper();
        ConcurrentMap<Integer, Long> queues = new ConcurrentHashMap<>();
        queues.put(0, 12L);
        queues.put(1, 9007199254740991L);
        offsets.getOffsetTable().put("T@G", queues);
        text("ConsumerOffsetSerializeWrapper", offsets);
        DelayOffsetSerializeWrapper delays = new DelayOffsetSerializeWrapper();
        delays.getOffsetTable().put(3, 30L);
        delays.getOffsetTable().put(18, 5L);
        text("DelayOffsetSerializeWrapper", delays);
        ResetOffsetBody reset = new ResetOffsetBody();
        Map<MessageQueue, Long> byQueue = new HashMap<>();
        byQueue.put(Q0, 12L);
        byQueue.put(Q1, 1L << 40);
        reset.setOffsetTable(byQueue);
        text("ResetOffsetBody", reset);
        ResetOffsetBodyForC forC = new ResetOffsetBodyForC();
        forC.setOffsetTable(Arrays.asList(new MessageQueueForC("T", "b", 0, 12)));
        text("ResetOffsetBodyForC", forC);
        GetConsumerStatusBody status = new GetConsumerStatusBody();
        status.setMessageQueueTable(byQueue);
        status.setConsumerTable(Collections.singletonMap("c", new HashMap<>(Collections.singletonMap(new MessageQueue("T", "b", 2), 3L))));
        text("GetConsumerStatusBody", status);
        QueryCorrectionOffsetBody correction = new QueryCorrectionOffsetBody();
        correction.setCorrectionOffsets(new HashMap<>(Collections.singletonMap(1, 9L)));
        text("QueryCorrectionOffsetBody", correction);
    }

    private static ConsumeStats consumeStats() {
        ConsumeStats stats = new ConsumeStats();
        stats.setConsumeTps(12.5);
        OffsetWrapper wrapper = new OffsetWrapper();
        wrapper.setBrokerOffset(10);
        wrapper.setConsumerOffset(3);
        wrapper.setLastTimestamp(1700000000000L);
        stats.getOffsetTable().put(Q0, wrapper);
        stats.getOffsetTable().put(Q1, new OffsetWrapper());
        return stats;
    }

    private static void stats() {
        text("ConsumeStats", consumeStats());
        ConsumeStatsList statsList = new ConsumeStatsList();
        statsList.setBrokerAddr("10.0.0.1:10911");
        statsList.setTotalDiff(7);
        statsList.setConsumeStatsList(Arrays.asList(Collections.singletonMap("G", Arrays.asList(consumeStats()))));
        text("ConsumeStatsList", statsList);
        TopicStatsTable topic = new TopicStatsTable();
        TopicOffset offset = new TopicOffset();
        offset.setMinOffset(1);
        offset.setMaxOffset(1L << 33);
        offset.setLastUpdateTimestamp(1700000000000L);
        topic.getOffsetTable().put(Q0, offset);
        topic.getOffsetTable().put(Q1, new TopicOffset());
        text("TopicStatsTable", topic);
        BrokerStatsData broker = new BrokerStatsData();
        double[] values = {0, 1.0e7, 1.234e-4};
        BrokerStatsItem[] items = new BrokerStatsItem[3];
        for (int i = 0; i < 3; i++) {
            items[i] = new BrokerStatsItem();
            items[i].setSum(i);
            items[i].setTps(values[i]);
            items[i].setAvgpt(values[i] / 3);
        }
        broker.setStatsMinute(items[0]);
        broker.setStatsHour(items[1]);
        broker.setStatsDay(items[2]);
        text("BrokerStatsData", broker);
        QueueTimeSpan span = new QueueTimeSpan();
        span.setMessageQueue(Q0);
        span.setMinTimeStamp(1);
        span.setMaxTimeStamp(1700000000000L);
        span.setConsumeTimeStamp(1600000000000L);
        span.setDelayTime(5);
        QueryConsumeTimeSpanBody spans = new QueryConsumeTimeSpanBody();
        spans.setConsumeTimeSpanSet(Arrays.asList(span));
        text("QueryConsumeTimeSpanBody", spans);
        ConsumeQueueData data = new ConsumeQueueData();
        data.setPhysicOffset(100);
        data.setPhysicSize(200);
        data.setTagsCode(-5);
        data.setEval(true);
        data.setMsg("m");
        QueryConsumeQueueResponseBody queue = new QueryConsumeQueueResponseBody();
        queue.setQueueData(Arrays.asList(data));
        queue.setMaxQueueIndex(9);
        queue.setMinQueueIndex(2);
        text("QueryConsumeQueueResponseBody", queue);
        data.setExtendDataJson("{}");
        data.setBitMap("101");
        queue.setSubscriptionData(subscription("T"));
        queue.setFilterData("f");
        text("QueryConsumeQueueResponseBody filter", queue);
    }

    private static void running() {
        ConsumerRunningInfo info = new ConsumerRunningInfo();
        info.getProperties().put("PROP_CONSUME_TYPE", "CONSUME_PASSIVELY");
        info.getSubscriptionSet().add(subscription("T"));
        ProcessQueueInfo process = new ProcessQueueInfo();
        process.setCommitOffset(1);
        process.setCachedMsgMinOffset(2);
        process.setCachedMsgMaxOffset(3);
        process.setCachedMsgCount(4);
        process.setCachedMsgSizeInMiB(5);
        process.setTransactionMsgMinOffset(6);
        process.setTransactionMsgMaxOffset(7);
        process.setTransactionMsgCount(8);
        process.setLocked(true);
        process.setTryUnlockTimes(9);
        process.setLastLockTimestamp(10);
        process.setDroped(true);
        process.setLastPullTimestamp(11);
        process.setLastConsumeTimestamp(12);
        info.getMqTable().put(Q0, process);
        ConsumeStatus status = new ConsumeStatus();
        status.setPullRT(1);
        status.setPullTPS(2.5);
        status.setConsumeRT(3);
        status.setConsumeOKTPS(4);
        status.setConsumeFailedTPS(5);
        status.setConsumeFailedMsgs(6);
        info.getStatusTable().put("T", status);
        text("ConsumerRunningInfo", info);
        info.setJstack("at x\n\tat y");
        text("ConsumerRunningInfo jstack", info);
        ConsumeMessageDirectlyResult result = new ConsumeMessageDirectlyResult();
        result.setConsumeResult(CMResult.CR_SUCCESS);
        result.setRemark("r");
        result.setSpentTimeMills(3);
        text("ConsumeMessageDirectlyResult", result);
    }
}
