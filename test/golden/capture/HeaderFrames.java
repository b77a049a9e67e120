import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.apache.rocketmq.remoting.CommandCustomHeader;
import org.apache.rocketmq.remoting.annotation.CFNotNull;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.SerializeType;

/**
 * Prints the frame that RocketMQ makes of each header class, with all fields in both header forms and with the required ones in JSON. Arguments: class names below org.apache.rocketmq.common.protocol.header. Run with -Drocketmq.remoting.version=407.
 */
public class HeaderFrames {
    private static final String PACKAGE = "org.apache.rocketmq.common.protocol.header.";

    public static void main(String[] names) throws Exception {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (String name : names) {
            for (boolean all : new boolean[] {true, false}) {
                for (SerializeType type : SerializeType.values()) {
                    if (!all && type == SerializeType.ROCKETMQ) continue;
                    Map<String, Object> row = new LinkedHashMap<>();
                    row.put("header", name);
                    row.put("fields", all ? "all" : "required");
                    row.put("serialize", type.name());
                    row.put("hex", hex(frame(name, all, type)));
                    rows.add(row);
                }
            }
        }
        System.out.println(JSON.toJSONString(rows, SerializerFeature.PrettyFormat));
    }

    private static ByteBuf frame(String name, boolean all, SerializeType type) throws Exception {
        Constructor<?> constructor = Class.forName(PACKAGE + name).getDeclaredConstructor();
        CommandCustomHeader header = (CommandCustomHeader) constructor.newInstance();
        for (Class<?> c = header.getClass(); c != Object.class; c = c.getSuperclass()) {
            for (Field field : c.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())) continue;
                field.setAccessible(true);
                if (all || field.isAnnotationPresent(CFNotNull.class)) field.set(header, sample(field));
            }
        }
        RemotingCommand command = RemotingCommand.createRequestCommand(7, header);
        command.setOpaque(42);
        command.setSerializeTypeCurrentRPC(type);
        ByteBuf out = Unpooled.buffer();
        command.fastEncodeHeader(out);
        return out;
    }

    private static Object sample(Field field) {
        String name = field.getName();
        Class<?> type = field.getType();
        if (type == String.class) return name + " \u0001\u4e3b\u9898\"";
        if (type == Integer.class || type == int.class) return -name.length();
        if (type == Long.class || type == long.class) return (1L << 40) + name.length();
        if (type == Boolean.class || type == boolean.class) return true;
        throw new IllegalArgumentException(field.toString());
    }

    private static String hex(ByteBuf bytes) {
        StringBuilder text = new StringBuilder();
        while (bytes.isReadable()) text.append(String.format("%02x", bytes.readByte()));
        return text.toString();
    }
}
