import { choice, integer, LONG_MAX, text } from './declare.js';

const KiB = 1024;
const MiB = 1024 * KiB;

/** Bounds and places that the original does not have, or has as constants in its code. */
export const processOptions = [
  text('topology', 'dedicated', 'which service runs on which thread: dedicated, fused, paired, or a JSON file', {
    derived: 'everything on the main thread when memory is set',
  }),
  text('readyFile', '', 'file that holds the addresses while the server serves'),
  choice('logLevel', ['debug', 'info', 'warn', 'error', 'silent'], 'info', 'what is written to standard error'),
  integer(
    'pluginTimeoutMs',
    300_000,
    'ms',
    'a plugin that takes longer to start or stop is named and given up; a large store may need minutes',
    {
      min: 10,
    },
  ),
  integer('workerHangTimeoutMs', 20_000, 'ms', 'a worker whose heartbeat stands still for longer ends the process', {
    min: 1000,
  }),
];

export const boundOptions = [
  integer('ringBytes', 16 * MiB, 'bytes', 'records on their way to the commit log', {
    min: 64 * KiB,
    max: 1024 * MiB,
  }),
  integer('ringSlots', 65_536, 'records', 'records on their way to the commit log; a power of two', {
    min: 64,
    max: 16 * MiB,
  }),
  integer('sendWaitBytesMax', 64 * MiB, 'bytes', 'sends that wait for room in the ring; beyond it sockets are paused', {
    max: LONG_MAX,
  }),
  integer(
    'pendingSendsMax',
    100_000,
    'sends',
    'appended and waiting for flush or slave; beyond it sends are answered 2',
    {
      min: 1,
    },
  ),
  integer('frameBytesHeldMax', 256 * MiB, 'bytes', 'of incomplete frames over all connections; each may be 16 MiB', {
    min: 16 * MiB,
    max: LONG_MAX,
  }),
  integer(
    'outboundBytesMax',
    64 * MiB,
    'bytes',
    'a client that does not read is closed above it; large pulls fit often',
    {
      min: MiB,
      max: LONG_MAX,
    },
  ),
  integer('connectionsMax', 20_000, 'connections', 'beyond it new connections are closed at once, with one log line', {
    min: 1,
  }),
  integer('heldPullsMax', 100_000, 'pulls', 'waiting for an arrival; beyond it a pull is answered at once', { min: 1 }),
  integer('queueTableRowsMax', 1_048_576, 'queues', 'of all topics together; one more is refused', { min: 1024 }),
  integer(
    'queueFilesOpenMax',
    16_384,
    'files',
    'ConsumeQueue files held open, at most half of what the process may have; the least recently used is closed',
    { min: 8 },
  ),
  integer(
    'coldReadsMax',
    4,
    'reads',
    'of the log for pulls far behind its tail, at a time; Node reads four files at a time',
    {
      min: 1,
    },
  ),
  integer('coldPullsMax', 10_000, 'pulls', 'waiting for cold data; beyond it a pull is answered 2 (SYSTEM_BUSY)', {
    min: 1,
  }),
  integer(
    'hotBytes',
    1024 * MiB,
    'bytes',
    'reads nearer to the tail are made at once; at most an eighth of the memory',
    {
      max: LONG_MAX,
    },
  ),
];

/** Constants of the original's code that tests and operators want shorter. */
export const periodOptions = [
  integer('clientExpiryMs', 120_000, 'ms', 'a client without heartbeat is forgotten (4.9: CHANNEL_EXPIRED_TIMEOUT)', {
    min: 100,
  }),
  integer('brokerExpiryMs', 120_000, 'ms', 'a broker without registration is forgotten by the name server', {
    min: 100,
  }),
  integer('expiryScanIntervalMs', 10_000, 'ms', 'between two looks for expired clients and brokers', { min: 10 }),
  integer('slowGroupCheckIntervalMs', 180_000, 'ms', 'see disableConsumeIfConsumerReadSlowly (4.9: 3 minutes)', {
    min: 10,
  }),
  integer(
    'queueLockExpiryMs',
    60_000,
    'ms',
    "an ordered consumer's queue is free (4.9: rocketmq.broker.rebalance.lockMaxLiveTime)",
    {
      min: 100,
    },
  ),
  integer('heldPullCheckIntervalMs', 5000, 'ms', 'between two looks at all held pulls (4.9: PullRequestHoldService)', {
    min: 10,
  }),
];
