/**
 * The client of mqkernel: sends to and consumes from any Apache RocketMQ 4.9 compatible broker.
 *
 * - `Producer` sends messages: one by one, in batches, one-way, delayed.
 * - `TransactionProducer` sends messages that are seen only when what belongs to them was done.
 * - `PushConsumer` consumes them, as a listener or as an async iterable.
 * - `AdminClient` looks at and changes topics, groups and brokers.
 *
 * Everything that fails throws `ClientError` with a stable `code`.
 */
export { AdminClient, type CreateTopicOptions } from './admin/admin-client.js';
export { ClientError, type ClientErrorCode } from './errors.js';
export type { OutgoingMessage, ReceivedMessage } from './message.js';
export { Producer, type ProducerOptions, type SendOptions } from './producer/producer.js';
export {
  TransactionProducer,
  type LocalTransaction,
  type TransactionCheck,
  type TransactionProducerOptions,
  type TransactionResult,
  type TransactionState,
} from './producer/transaction-producer.js';
export type { SendResult, SendStatus } from './producer/sender.js';
export { PushConsumer } from './consumer/push-consumer.js';
export type { ConsumerPeriods, PushConsumerOptions } from './consumer/options.js';
export type { ConsumeContext, ConsumeResult, Listener } from './consumer/listener.js';
export type { ConsumeFrom } from './consumer/start-offset.js';
export type { Expression } from './consumer/subscription.js';
export type { ClientOptions, ClientPeriods } from './transport/client-core.js';
export type { MessageQueue } from './transport/message-queue.js';
export type { OffsetWrapper } from '../protocol/bodies/consume-stats.js';
export type { QueueTable } from '../protocol/bodies/message-queue.js';
export type { BrokerData, ClusterInfo, QueueData, TopicRouteData } from '../protocol/bodies/route.js';
export type { TopicOffset } from '../protocol/bodies/topic-stats.js';
export { Perm, ResponseCode } from '../protocol/codes.js';
export type { Clock } from '../kernel/base/clock.js';
export { createLogger, silentLogger, type Logger, type LogLevel } from '../kernel/base/logger.js';
export { averagelyRule } from '../plugins/allocation/averagely/rule.js';
export { circleRule } from '../plugins/allocation/circle/rule.js';
export { configRule } from '../plugins/allocation/config/rule.js';
export { consistentHashRule } from '../plugins/allocation/consistent-hash/rule.js';
export type { AllocationRule } from '../plugins/allocation/contract.js';
export { machineRoomNearbyRule, type MachineRooms } from '../plugins/allocation/machine-room-nearby/rule.js';
export { machineRoomRule } from '../plugins/allocation/machine-room/rule.js';
