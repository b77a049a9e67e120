import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.broker.filter.ConsumerFilterData;
import org.apache.rocketmq.broker.filter.ConsumerFilterManager;
import org.apache.rocketmq.filter.util.BitsArray;
import org.apache.rocketmq.filter.util.BloomFilter;

/** `BloomSamples FILE`: sizes, positions and bits of 4.9.7's bloom filter, and its consumerFilter.json. */
public class BloomSamples {
    private static final int[] EXPECTED = {1, 2, 3, 5, 7, 8, 16, 31, 32, 33, 50, 64, 100, 127, 128, 1000, 10000, 25000};

    public static void main(String[] args) throws Exception {
        Map<String, Object> out = new LinkedHashMap<>();
        List<Object> sizes = new ArrayList<>();
        for (int f = 1; f < 100; f++)
            for (int n : EXPECTED) {
                BloomFilter filter = BloomFilter.createByFn(f, n);
                sizes.add(new int[] {f, n, filter.getK(), filter.getM()});
            }
        out.put("sizes", sizes);
        List<Object> positions = new ArrayList<>();
        int[][] filters = {{20, 32}, {1, 1000}, {50, 7}, {10, 128}};
        for (String text : texts())
            for (int[] fn : filters) {
                BloomFilter filter = BloomFilter.createByFn(fn[0], fn[1]);
                BitsArray bits = BitsArray.create(filter.getM());
                int[] found = filter.calcBitPositions(text);
                filter.hashTo(found, bits);
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("f", fn[0]);
                row.put("n", fn[1]);
                row.put("text", text);
                row.put("positions", found);
                row.put("bits", Base64.getEncoder().encodeToString(bits.bytes()));
                positions.add(row);
            }
        out.put("positions", positions);
        out.put("file", file());
        out.put("empty", new ConsumerFilterManager().encode(true));
        Files.write(Paths.get(args[0]), JSON.toJSONString(out, SerializerFeature.PrettyFormat).getBytes("UTF-8"));
    }

    private static List<String> texts() {
        List<String> texts = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        for (int length = 0; length < 40; length++) {
            texts.add(text.toString());
            text.append((char) ('a' + length % 26));
        }
        texts.add("CID_1#TopicA");
        texts.add("please_rename_unique_group_name#TopicTest");
        texts.add("\u7ec4#\u4e3b\u9898");
        texts.add("\ud83d\ude00#\u00e9");
        return texts;
    }

    /** Times are fixed: they are not what is looked at. */
    private static String file() throws Exception {
        ConsumerFilterManager manager = new ConsumerFilterManager();
        manager.register("TopicA", "group_a", "a > 5 AND TAGS = 'x\"y'", "SQL92", 1700000000001L);
        manager.register("TopicA", "group_b", "b IS NOT NULL", "SQL92", 1700000000002L);
        manager.register("TopicB", "group_a", "a = '\u9898\t\u2028/'", "SQL92", 1700000000003L);
        long born = 1900000000000L;
        for (String topic : new String[] {"TopicA", "TopicB"})
            for (ConsumerFilterData data : manager.get(topic)) {
                data.setBornTime(born++);
                if (data.getConsumerGroup().equals("group_b")) data.setDeadTime(born + 5);
            }
        return manager.encode(true);
    }
}
