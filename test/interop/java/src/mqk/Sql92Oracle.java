package mqk;

import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.broker.filter.MessageEvaluationContext;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.filter.FilterFactory;
import org.apache.rocketmq.filter.expression.EvaluationContext;
import org.apache.rocketmq.filter.expression.Expression;
import org.apache.rocketmq.filter.expression.MQFilterException;

/**
 * What the real broker makes of SQL92 expressions. Input: a JSON array of property strings as stored in records, then one JSON
 * string per line, an expression. Output: per expression REFUSED, or one letter per property string: T, F, N (null),
 * E (an exception).
 */
public final class Sql92Oracle {
    private Sql92Oracle() {
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        List<EvaluationContext> messages = new ArrayList<>();
        for (Object stored : JSON.parseArray(in.readLine())) {
            messages.add(new MessageEvaluationContext(MessageDecoder.string2messageProperties((String) stored)));
        }
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answers((String) ((JSONArray) JSON.parse("[" + line + "]")).get(0), messages));
        }
        out.flush();
    }

    private static String answers(String text, List<EvaluationContext> messages) {
        Expression expression;
        try {
            expression = FilterFactory.INSTANCE.get("SQL92").compile(text);
        } catch (MQFilterException e) {
            return "REFUSED";
        }
        StringBuilder letters = new StringBuilder();
        for (EvaluationContext message : messages) {
            letters.append(answer(expression, message));
        }
        return letters.toString();
    }

    private static char answer(Expression expression, EvaluationContext message) {
        try {
            Object value = expression.evaluate(message);
            return value == null ? 'N' : (Boolean) value ? 'T' : 'F';
        } catch (Throwable e) {
            return 'E';
        }
    }
}
