package mqk;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/** RocketMQ's own mqadmin in this JVM, its output captured. */
final class Mqadmin extends MQAdminStartup {
    private Mqadmin() {
    }

    /** Returns {"out", "err"}. One at a time: mqadmin prints to the JVM's System.out. */
    static synchronized JSONObject run(JSONArray args) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
            subCommandList.clear(); // some commands keep a closed client from their last run
            main(args.toArray(new String[0]));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        return new JSONObject().fluentPut("out", printed.toString(StandardCharsets.UTF_8))
            .fluentPut("err", complained.toString(StandardCharsets.UTF_8));
    }
}
