import type { AllocationRule } from '../../plugins/allocation/contract.js';
import { ClientError } from '../errors.js';
import { checkGroup } from '../names.js';
import type { ClientOptions, ClientPeriods } from '../transport/client-core.js';
import { allocationRule } from './allocation.js';
import { defaultOffsetDir } from './file-offset-store.js';
import type { ConsumeFrom } from './start-offset.js';

export interface PushConsumerOptions extends ClientOptions {
  /** Consumer group: its members share the messages (clustering). */
  readonly group: string;
  /** Where the group begins in queues that it never consumed. Default `last`. */
  readonly from?: ConsumeFrom;
  /** `clustering`: each message goes to one member; `broadcasting`: to each, without retries. Default `clustering`. */
  readonly model?: 'clustering' | 'broadcasting';
  /**
   * The messages of a queue are consumed one after the other, by one member of the group: what fails is offered again after
   * `suspendCurrentQueueMs`, and what comes after it waits. All members of the group need the same setting. Default false.
   */
  readonly orderly?: boolean;
  /** `orderly`: how long a queue rests after a message of it failed; 10 … 30,000. Default 1,000. */
  readonly suspendCurrentQueueMs?: number;
  /** Listeners that run at the same time. Default 20. */
  readonly concurrency?: number;
  /** Messages per call of the listener, at most. Default 1: what fails is then always one message. */
  readonly batchMax?: number;
  /** Messages asked for in one pull. Default 32. */
  readonly pullMax?: number;
  /** A queue is not pulled while so many of its messages are held. Default 1,000. */
  readonly heldMessagesMax?: number;
  /** A queue is not pulled while it holds so many bytes. Default 104,857,600. */
  readonly heldBytesMax?: number;
  /** A queue is not pulled while its first and last message held are so far apart. Default 2,000. */
  readonly heldSpanMax?: number;
  /** A message that failed so often goes to the dead letters. Default 16; with `orderly` no message does. */
  readonly maxReconsumeTimes?: number;
  /** A listener that takes longer is given up: its message is delivered again. Default 900,000 (15 minutes). Not with `orderly`. */
  readonly consumeTimeoutMs?: number;
  /** How long `stop` waits for listeners that run. Default 30,000. */
  readonly stopTimeoutMs?: number;
  /** How long a broker holds a pull that finds nothing. Default 15,000. */
  readonly suspendMs?: number;
  /** When such a pull counts as lost. Default 30,000. */
  readonly pullTimeoutMs?: number;
  /**
   * How queues are shared out; all members of a group need the same rule. One of this package, such as `circleRule` or
   * `consistentHashRule(20)`, or any other. Default: `averagelyRule`, as with Java.
   */
  readonly allocation?: AllocationRule;
  /** Broadcasting: folder of the offset files. Default `~/.rocketmq_offsets`, as with Java. */
  readonly offsetDir?: string;
  /** Broadcasting: tells consumers on one machine apart that keep offsets of their own. Default `DEFAULT`. */
  readonly instanceName?: string;
  readonly periods?: ConsumerPeriods;
}

export interface ConsumerPeriods extends ClientPeriods {
  /** Check of who has which queue. Default 20,000. */
  readonly rebalanceMs?: number;
  /** Commit of offsets. Default 5,000. */
  readonly persistMs?: number;
  /** Wait after a failed pull. Default 3,000. */
  readonly pullErrorMs?: number;
  /** Wait while flow control holds a queue. Default 50. */
  readonly flowMs?: number;
  /** Wait before a message that could not be sent back is consumed again here. Default 5,000. */
  readonly localRetryMs?: number;
  /** `orderly`: renewal of the locks of queues. Default 20,000. */
  readonly lockMs?: number;
  /** `orderly`: a lock that was not renewed for so long counts as lost; less than the brokers' 60,000. Default 30,000. */
  readonly lockValidMs?: number;
  /** `orderly`: wait before a queue that another member still has is asked for again. Default 3,000. */
  readonly lockRetryMs?: number;
  /** Look for listeners that take too long. Default 60,000. */
  readonly expiryMs?: number;
}

type Filled = Omit<Required<PushConsumerOptions>, keyof ClientOptions | 'periods'>;
export interface ConsumerSettings extends Filled {
  readonly periods: Required<Omit<ConsumerPeriods, keyof ClientPeriods>>;
}

const LIMITS: readonly (readonly [name: keyof PushConsumerOptions, min: number, max: number])[] = [
  ['suspendCurrentQueueMs', 10, 30_000],
  ['concurrency', 1, 1000],
  ['batchMax', 1, 1024],
  ['pullMax', 1, 1024],
  ['heldMessagesMax', 1, 65_535],
  ['heldBytesMax', 1, 2 ** 30],
  ['heldSpanMax', 1, 65_535],
  ['consumeTimeoutMs', 1, 2 ** 31 - 1],
  ['suspendMs', 0, 600_000],
  ['pullTimeoutMs', 1, 600_000],
];

/** Fills in defaults. Throws ILLEGAL_ARGUMENT naming an option that is out of range. */
export function consumerSettings(options: PushConsumerOptions): ConsumerSettings {
  checkGroup(options.group);
  for (const [name, min, max] of LIMITS) {
    const value = options[name];
    if (value === undefined || (typeof value === 'number' && value >= min && value <= max)) continue;
    throw new ClientError('ILLEGAL_ARGUMENT', `${name} is ${String(value)}, not within ${min} … ${max}`);
  }
  const { periods = {}, orderly = false } = options;
  return {
    group: options.group,
    from: options.from ?? 'last',
    model: options.model ?? 'clustering',
    orderly,
    suspendCurrentQueueMs: options.suspendCurrentQueueMs ?? 1000,
    concurrency: options.concurrency ?? 20,
    batchMax: options.batchMax ?? 1,
    pullMax: options.pullMax ?? 32,
    heldMessagesMax: options.heldMessagesMax ?? 1000,
    heldBytesMax: options.heldBytesMax ?? 100 * 2 ** 20,
    heldSpanMax: options.heldSpanMax ?? 2000,
    maxReconsumeTimes: options.maxReconsumeTimes ?? (orderly ? 2 ** 31 - 1 : 16),
    consumeTimeoutMs: options.consumeTimeoutMs ?? 900_000,
    stopTimeoutMs: options.stopTimeoutMs ?? 30_000,
    suspendMs: options.suspendMs ?? 15_000,
    pullTimeoutMs: options.pullTimeoutMs ?? 30_000,
    allocation: allocationRule(options.allocation),
    offsetDir: options.offsetDir ?? defaultOffsetDir(),
    instanceName: options.instanceName ?? 'DEFAULT',
    periods: {
      rebalanceMs: periods.rebalanceMs ?? 20_000,
      persistMs: periods.persistMs ?? 5000,
      pullErrorMs: periods.pullErrorMs ?? 3000,
      flowMs: periods.flowMs ?? 50,
      localRetryMs: periods.localRetryMs ?? 5000,
      lockMs: periods.lockMs ?? 20_000,
      lockValidMs: periods.lockValidMs ?? 30_000,
      lockRetryMs: periods.lockRetryMs ?? 3000,
      expiryMs: periods.expiryMs ?? 60_000,
    },
  };
}
