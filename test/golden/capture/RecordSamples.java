import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.compression.CompressionType;
import org.apache.rocketmq.common.compression.CompressorFactory;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;

/** Prints stored records, a batch body, compressed bodies, checksums, hashes and numbers as RocketMQ and Java make them. */
public class RecordSamples {
    private static final byte[] BODY = "hello \u4e3b\u9898 \ud83d\ude00".getBytes(StandardCharsets.UTF_8);

    public static void main(String[] args) throws Exception {
        Map<String, Object> out = new LinkedHashMap<>();
        List<Object> records = new ArrayList<>();
        for (String[] hosts : new String[][] {{"10.1.2.3", "192.168.0.254"}, {"::1", "10.0.0.1"}, {"10.0.0.1", "fe80::1:2"}, {"2001:db8::ff", "::1"}}) {
            records.add(record(hosts[0], hosts[1], BODY, "T-1"));
        }
        records.add(record("10.1.2.3", "10.0.0.1", new byte[0], "%RETRY%G"));
        out.put("records", records);
        Message first = new Message("T", "TagA", "k1 k2", "one".getBytes(StandardCharsets.UTF_8));
        first.setFlag(3);
        Message second = new Message("T", BODY);
        out.put("batch", UtilAll.bytes2string(MessageDecoder.encodeMessages(Arrays.asList(first, second))));
        out.put("batchProperties", Arrays.asList(MessageDecoder.messageProperties2String(first.getProperties()),
            MessageDecoder.messageProperties2String(second.getProperties())));
        Map<String, Object> compressed = new LinkedHashMap<>();
        byte[] large = new byte[5000];
        Arrays.fill(large, (byte) 'x');
        for (CompressionType type : CompressionType.values()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("hex", UtilAll.bytes2string(CompressorFactory.getCompressor(type).compress(large, 5)));
            row.put("sysFlag", MessageSysFlag.COMPRESSED_FLAG | type.getCompressionFlag());
            compressed.put(type.name(), row);
        }
        out.put("compressed", compressed);
        Map<String, Object> crc = new LinkedHashMap<>();
        for (int size : new int[] {0, 1, 9, 199, 200, 5000}) crc.put(String.valueOf(size), UtilAll.crc32(Arrays.copyOf(large, size)));
        out.put("crc32OfX", crc);
        Map<String, Object> hashes = new LinkedHashMap<>();
        for (String text : new String[] {"", "TagA", "TagA || TagB", "\u6807\u7b7e", "\ud83d\ude00", "polygenelubricants", "a\u0000b"}) {
            hashes.put(text, text.hashCode());
        }
        out.put("hashes", hashes);
        Map<String, Object> doubles = new LinkedHashMap<>();
        for (double value : new double[] {0, -0.0, 1, 12.5, 0.001, 0.00099, 9999999.0, 1.0e7, 1.23e-10, 1234567.891, 1.0e21, 3.3333333333333335, 100}) {
            doubles.put(String.valueOf(Double.doubleToLongBits(value)), JSON.toJSONString(value));
        }
        out.put("doubles", doubles);
        Map<String, Object> parsed = new LinkedHashMap<>();
        for (String text : new String[] {"a\u0001b", "a\u0001b\u0002", "a\u0001b\u0002c\u0001d", "a\u0001", "\u0001b", "ab", "a\u0001b\u0002x\u0002c\u0001d",
            "a\u00011\u0002a\u00012", "a\u0001b\u0001c\u0002d\u0001", "\u0002\u0002a\u0001b", "x\u0002a\u0001b", "ab\u0002cd\u0001e"}) {
            parsed.put(text, MessageDecoder.string2messageProperties(text));
        }
        out.put("properties", parsed);
        System.out.println(JSON.toJSONString(out, SerializerFeature.PrettyFormat, SerializerFeature.DisableCircularReferenceDetect));
    }

    private static Map<String, Object> record(String born, String store, byte[] body, String topic) throws Exception {
        MessageExt message = new MessageExt();
        message.setTopic(topic);
        message.setBody(body);
        message.setBodyCRC(UtilAll.crc32(body));
        message.setQueueId(5);
        message.setFlag(-2);
        message.setQueueOffset((1L << 33) + 7);
        message.setCommitLogOffset((1L << 40) + 9);
        message.setBornTimestamp(1700000000123L);
        message.setStoreTimestamp(1700000000456L);
        message.setReconsumeTimes(3);
        message.setPreparedTransactionOffset(77);
        InetAddress bornAddress = InetAddress.getByName(born);
        InetAddress storeAddress = InetAddress.getByName(store);
        message.setBornHost(new InetSocketAddress(bornAddress, 40001));
        message.setStoreHost(new InetSocketAddress(storeAddress, 10911));
        message.setSysFlag(MessageSysFlag.MULTI_TAGS_FLAG);
        if (bornAddress.getAddress().length == 16) message.setBornHostV6Flag();
        if (storeAddress.getAddress().length == 16) message.setStoreHostAddressV6Flag();
        message.setTags("TagA");
        MessageAccessor.putProperty(message, "\u540d", "\u503c \ud83d\ude00");
        byte[] bytes = MessageDecoder.encode(message, false);
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("born", born);
        row.put("store", store);
        row.put("topic", topic);
        row.put("body", UtilAll.bytes2string(body));
        row.put("properties", MessageDecoder.messageProperties2String(message.getProperties()));
        row.put("msgId", MessageDecoder.decode(java.nio.ByteBuffer.wrap(bytes)).getMsgId());
        row.put("hex", UtilAll.bytes2string(bytes));
        return row;
    }
}
