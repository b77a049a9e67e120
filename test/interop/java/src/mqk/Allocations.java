package mqk;

import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.message.MessageQueue;

/** The client's allocation strategies, by the names of our rules. */
final class Allocations {
    private Allocations() {
    }

    /** args: {"rule", and "queues", "rooms", "inner" or "virtualNodes" for the rule that needs it}. */
    static AllocateMessageQueueStrategy of(JSONObject args) {
        switch (args.getString("rule")) {
            case "averagely":
                return new AllocateMessageQueueAveragely();
            case "circle":
                return new AllocateMessageQueueAveragelyByCircle();
            case "config":
                AllocateMessageQueueByConfig config = new AllocateMessageQueueByConfig();
                config.setMessageQueueList(queues(args.getJSONArray("queues")));
                return config;
            case "machine-room":
                AllocateMessageQueueByMachineRoom machineRoom = new AllocateMessageQueueByMachineRoom();
                machineRoom.setConsumeridcs(new HashSet<>(args.getJSONArray("rooms").toJavaList(String.class)));
                return machineRoom;
            case "machine-room-nearby":
                return new AllocateMachineRoomNearby(of(args.getJSONObject("inner")), new RoomInFront());
            case "consistent-hash":
                return new AllocateMessageQueueConsistentHash(args.getIntValue("virtualNodes"));
            default:
                throw new IllegalArgumentException("no such rule: " + args);
        }
    }

    /** Each [topic, brokerName, queueId]. */
    static List<MessageQueue> queues(JSONArray list) {
        List<MessageQueue> queues = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            JSONArray queue = list.getJSONArray(i);
            queues.add(new MessageQueue(queue.getString(0), queue.getString(1), queue.getIntValue(2)));
        }
        return queues;
    }

    /** The room is what stands before the first '-' of a broker's name and of a client id. */
    private static final class RoomInFront implements AllocateMachineRoomNearby.MachineRoomResolver {
        @Override
        public String brokerDeployIn(MessageQueue queue) {
            return room(queue.getBrokerName());
        }

        @Override
        public String consumerDeployIn(String clientId) {
            return room(clientId);
        }

        private static String room(String name) {
            return name.substring(0, Math.max(0, name.indexOf('-')));
        }
    }
}
