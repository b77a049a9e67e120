package mqk;

import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.serializer.SerializerFeature;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;

/**
 * A long-lived program that answers JSON lines: {"id", "op", "args"} in, {"id", "result"} or {"id", "error"} out, and
 * {"event", ...} lines whenever there is something to tell. Each request runs on its own thread. Ends with its stdin.
 */
final class Lines {
    interface Op {
        Object run(JSONObject args) throws Exception;
    }

    private static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), false,
        StandardCharsets.UTF_8);

    private Lines() {
    }

    static void serve(Map<String, Op> ops) throws Exception {
        System.setOut(System.err); // a stray print must not break the protocol
        ExecutorService threads = Executors.newCachedThreadPool();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        write(new JSONObject().fluentPut("event", "ready"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JSONObject request = JSON.parseObject(line);
            threads.execute(() -> write(answer(ops, request)));
        }
        System.exit(0);
    }

    static void event(String name, String handle, Object data) {
        write(new JSONObject().fluentPut("event", name).fluentPut("handle", handle).fluentPut("data", data));
    }

    private static JSONObject answer(Map<String, Op> ops, JSONObject request) {
        JSONObject reply = new JSONObject().fluentPut("id", request.get("id"));
        try {
            Op op = ops.get(request.getString("op"));
            if (op == null) {
                throw new IllegalArgumentException("no such op: " + request.getString("op"));
            }
            return reply.fluentPut("result", op.run(request.getJSONObject("args")));
        } catch (Throwable e) {
            return reply.fluentPut("error", describe(e));
        }
    }

    /** {"type", "message", "code"}: code is the broker's response code, or the client's own error code, else absent. */
    static JSONObject describe(Throwable thrown) {
        Throwable e = thrown;
        while (e instanceof java.lang.reflect.InvocationTargetException && e.getCause() != null) {
            e = e.getCause();
        }
        JSONObject error = new JSONObject().fluentPut("type", e.getClass().getSimpleName())
            .fluentPut("message", String.valueOf(e.getMessage()));
        if (e instanceof MQBrokerException) {
            error.put("code", ((MQBrokerException) e).getResponseCode());
        } else if (e instanceof MQClientException) {
            error.put("code", ((MQClientException) e).getResponseCode());
        }
        return error;
    }

    private static void write(JSONObject line) {
        String text = JSON.toJSONString(line, SerializerFeature.WriteNonStringKeyAsString,
            SerializerFeature.DisableCircularReferenceDetect, SerializerFeature.BrowserCompatible);
        synchronized (OUT) {
            OUT.println(text);
            OUT.flush();
        }
    }
}
