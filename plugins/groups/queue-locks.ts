import { KernelError } from '../../kernel/base/errors.js';
import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { decodeLockBatchRequestBody, encodeLockBatchResponseBody } from '../../protocol/bodies/lock-batch.js';
import type { MessageQueue } from '../../protocol/bodies/message-queue.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { FieldError } from '../../protocol/fields.js';
import { encodeNotifyConsumerIdsChanged } from '../../protocol/headers/notify-consumer-ids-changed.js';
import { groupProblem, TOPIC_LENGTH_MAX } from '../../protocol/message/names.js';
import type { Reply, RequestRouter } from '../remoting/contract.js';
import { Consumers, SubscriptionGroups } from './contract.js';

const LOCKS_MAX = 1_000_000;
/** Bounds what one lock takes. */
const NAME_LENGTH_MAX = 512;

interface Lock {
  clientId: string;
  renewedMonoMs: number;
  /** Who was refused the queue since: it is told when the lock ends. */
  wantedBy: string | undefined;
}

/**
 * Which member of a group may consume a queue in order (4.9: RebalanceLockManager). Locks end by the monotonic clock. Unlike
 * there they also end when their owner leaves the group, and who was refused a queue is told when it is free: it need not wait for
 * its next rebalance, 20 s away.
 */
@injectable()
export class QueueLocks {
  readonly #byGroup = new Map<string, Map<string, Lock>>();
  #count = 0;

  constructor(
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
    @inject(Consumers) private readonly consumers: Consumers,
    @inject(SubscriptionGroups) private readonly groups: SubscriptionGroups,
  ) {}

  register(router: RequestRouter): void {
    router.handle(RequestCode.LOCK_BATCH_MQ, (request) => this.#lockBatch(request));
    router.handle(RequestCode.UNLOCK_BATCH_MQ, (request) => this.#unlockBatch(request));
  }

  /** Forgets locks that nobody renewed. */
  expire(): void {
    for (const [group, locks] of this.#byGroup)
      this.#end(
        group,
        [...locks].filter(([, lock]) => this.#expired(lock)).map(([key]) => key),
      );
  }

  /** A member left the group in good order: what it locked is free. */
  left(group: string, clientId: string): void {
    const locks = this.#byGroup.get(group);
    if (locks === undefined || this.consumers.group(group)?.channels.has(clientId) === true) return;
    this.#end(
      group,
      [...locks].filter(([, lock]) => lock.clientId === clientId).map(([key]) => key),
    );
  }

  #lockBatch({ body }: Request): Reply {
    const { consumerGroup, clientId, mqSet } = decodeLockBatchRequestBody(body);
    const problem = groupProblem(consumerGroup);
    if (problem !== undefined) return { code: ResponseCode.SYSTEM_ERROR, remark: problem };
    check('clientId', clientId, NAME_LENGTH_MAX);
    for (const { topic, brokerName } of mqSet) {
      check('mqSet.topic', topic, TOPIC_LENGTH_MAX);
      check('mqSet.brokerName', brokerName, NAME_LENGTH_MAX);
    }
    const lockOKMQSet = mqSet.filter((queue) => this.#lock(consumerGroup, queue, clientId));
    return { code: ResponseCode.SUCCESS, body: encodeLockBatchResponseBody({ lockOKMQSet }) };
  }

  #unlockBatch({ body }: Request): Reply {
    const { consumerGroup, clientId, mqSet } = decodeLockBatchRequestBody(body);
    const locks = this.#byGroup.get(consumerGroup);
    const own = mqSet.map(keyOf).filter((key) => locks?.get(key)?.clientId === clientId);
    this.#end(consumerGroup, own);
    return { code: ResponseCode.SUCCESS };
  }

  #lock(group: string, queue: MessageQueue, clientId: string): boolean {
    const key = keyOf(queue);
    const lock = this.#byGroup.get(group)?.get(key);
    if (lock === undefined) {
      this.#add(group, key, clientId);
      return true;
    }
    if (lock.clientId !== clientId) {
      if (!this.#expired(lock)) {
        lock.wantedBy = clientId;
        return false;
      }
      this.logger.warn({ group, queue, from: lock.clientId, to: clientId }, 'an expired queue lock changes its owner');
      lock.clientId = clientId;
      lock.wantedBy = undefined;
    }
    lock.renewedMonoMs = this.clock.monoMs();
    return true;
  }

  #expired(lock: Lock): boolean {
    return this.clock.monoMs() - lock.renewedMonoMs > this.options.queueLockExpiryMs;
  }

  #add(group: string, key: string, clientId: string): void {
    if (this.#count >= LOCKS_MAX) throw new KernelError('LOCKS_FULL', `${LOCKS_MAX} queues are locked already`);
    let locks = this.#byGroup.get(group);
    if (locks === undefined) this.#byGroup.set(group, (locks = new Map()));
    locks.set(key, { clientId, renewedMonoMs: this.clock.monoMs(), wantedBy: undefined });
    this.#count++;
  }

  #end(group: string, keys: readonly string[]): void {
    const locks = this.#byGroup.get(group);
    if (locks === undefined) return;
    const waiting = new Set<string>();
    for (const key of keys) {
      const lock = locks.get(key);
      if (lock === undefined || !locks.delete(key)) continue;
      this.#count--;
      if (lock.wantedBy !== undefined) waiting.add(lock.wantedBy);
    }
    if (locks.size === 0) this.#byGroup.delete(group);
    this.#tell(group, waiting);
  }

  #tell(group: string, clientIds: ReadonlySet<string>): void {
    if (!this.options.notifyConsumerIdsChangedEnable) return;
    if (this.groups.all().get(group)?.notifyConsumerIdsChangedEnable === false) return;
    const channels = this.consumers.group(group)?.channels;
    const ext = encodeNotifyConsumerIdsChanged({ consumerGroup: group });
    for (const clientId of clientIds) {
      const connection = channels?.get(clientId)?.connection;
      if (connection?.closed === false) connection.notify(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, ext);
    }
  }
}

function check(field: string, name: string, lengthMax: number): void {
  if (name === '' || name.length > lengthMax) throw new FieldError(field, `must have 1 to ${lengthMax} characters`);
}

function keyOf({ topic, brokerName, queueId }: MessageQueue): string {
  return `${queueId}@${brokerName}@${topic}`;
}
