import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { PullSysFlag, RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import {
  decodePullMessage,
  encodePullMessageResponse,
  type PullMessageRequestHeader,
} from '../../protocol/headers/pull-message.js';
import { Counters } from '../metrics/contract.js';
import { Offsets } from '../offsets/contract.js';
import { Connections, RequestRouter, type Connection, type Reply } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { PullChecks, type CheckedPull } from './checks.js';
import { HeldPulls, type HeldPull } from './held-pulls.js';
import type { SelectRequest, Selection } from './selection.js';
import { MessageSelector } from './selector.js';

const MASTER_ID = 0;

/** PULL_MESSAGE (11): answered from the store, or held until something arrives. */
@injectable()
export class Pull implements PluginMain {
  readonly #held = new HeldPulls();
  #sweep: NodeJS.Timeout | undefined;

  constructor(
    @inject(RequestRouter) private readonly router: RequestRouter,
    @inject(Connections) private readonly connections: Connections,
    @inject(Queues) private readonly queues: Queues,
    @inject(PullChecks) private readonly checks: PullChecks,
    @inject(MessageSelector) private readonly selector: MessageSelector,
    @inject(Offsets) private readonly offsets: Offsets,
    @inject(Counters) private readonly counters: Counters,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  start(): void {
    this.router.handle(RequestCode.PULL_MESSAGE, (request, connection) => this.#pull(request, connection, true));
    this.queues.onArrival((topic, queueId, maxOffset) => this.#arrived(topic, queueId, maxOffset));
    this.connections.onClose((connection) => this.#dropped(connection));
    const { longPollingEnable, heldPullCheckIntervalMs, shortPollingTimeMills } = this.options;
    this.#sweep = setInterval(() => this.#check(), longPollingEnable ? heldPullCheckIntervalMs : shortPollingTimeMills);
  }

  /** Whoever waits is told that there is nothing, rather than cut off. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all(this.#held.all().map((held) => this.#wake(held)));
  }

  async #pull(request: Request, connection: Connection, mayHold: boolean): Promise<Reply | undefined> {
    const header = decodePullMessage(request.ext);
    const checked = this.checks.check(header, connection);
    if (!('filter' in checked)) return checked;
    const { topic, queueId, queueOffset: offset, maxMsgNums: maxMessages } = header;
    const select: SelectRequest = { topic, queueId, offset, maxMessages, filter: checked.filter };
    const selection = await this.selector.select(select);
    this.#count(selection);
    if (mayHold && (header.sysFlag & PullSysFlag.COMMIT_OFFSET) !== 0)
      this.offsets.commit(connection.remote, header.consumerGroup, topic, queueId, header.commitOffset);
    const code = codeOf(selection, offset);
    if (code === ResponseCode.PULL_NOT_FOUND && mayHold && this.#hold(header, select, request, connection))
      return undefined;
    if (code === ResponseCode.PULL_OFFSET_MOVED) this.#logMoved(header, selection, connection);
    return this.#reply(request, code, selection, checked);
  }

  #reply({ serialize }: Request, code: number, selection: Selection, { group }: CheckedPull): Reply {
    const { slaveReadEnable } = this.options;
    const slaveId = selection.slow ? group.whichBrokerWhenConsumeSlowly : group.brokerId;
    const { minOffset, maxOffset, nextOffset: nextBeginOffset } = selection;
    const suggestWhichBrokerId = slaveReadEnable ? slaveId : MASTER_ID;
    const ext = encodePullMessageResponse({ suggestWhichBrokerId, nextBeginOffset, minOffset, maxOffset }, serialize);
    const reply: Reply = { code, remark: selection.status, ext };
    return code === ResponseCode.SUCCESS ? { ...reply, body: selection.body } : reply;
  }

  /** False when the pull does not ask to be held, or too many are. */
  #hold(header: PullMessageRequestHeader, select: SelectRequest, request: Request, connection: Connection): boolean {
    if ((header.sysFlag & PullSysFlag.SUSPEND) === 0 || this.#held.count >= this.options.heldPullsMax) return false;
    if (connection.closed) return true;
    const { longPollingEnable, shortPollingTimeMills } = this.options;
    const holdMs = longPollingEnable ? header.suspendTimeoutMillis : shortPollingTimeMills;
    const deadlineMonoMs = this.clock.monoMs() + holdMs;
    const held: HeldPull = {
      request: request.copied(),
      connection,
      select,
      deadlineMonoMs,
      lookedTo: select.offset,
      looking: false,
    };
    this.#held.add(held);
    this.queues.wantArrivals(true);
    // What arrived between the look and the hold rang already.
    this.#arrived(select.topic, select.queueId, this.queues.maxOffset(select.topic, select.queueId));
    return true;
  }

  #arrived(topic: string, queueId: number, maxOffset: number): void {
    const waiting = this.#held.of(topic, queueId);
    if (waiting === undefined) return;
    for (const held of [...waiting]) {
      if (maxOffset <= held.lookedTo) continue;
      if (!this.selector.mayMatch(held.select, held.lookedTo, maxOffset)) held.lookedTo = maxOffset;
      else if (held.select.filter.matches === undefined) void this.#wake(held);
      else void this.#lookAtRecords(held);
    }
  }

  /** A filter that needs the records: what arrived must match before the client hears of it, or it would only ask again. */
  async #lookAtRecords(held: HeldPull): Promise<void> {
    if (held.looking) return;
    held.looking = true;
    try {
      for (;;) {
        const { status, nextOffset } = await this.selector.select({ ...held.select, offset: held.lookedTo });
        if (status === 'OFFSET_OVERFLOW_ONE') return;
        if (status !== 'NO_MATCHED_MESSAGE') break;
        held.lookedTo = nextOffset;
      }
    } finally {
      held.looking = false;
    }
    await this.#wake(held);
  }

  /** Arrivals are told; this is for deadlines, and for what must not depend on being told. */
  #check(): void {
    const now = this.clock.monoMs();
    for (const held of this.#held.all()) {
      const { topic, queueId } = held.select;
      if (held.deadlineMonoMs <= now) void this.#wake(held);
      else this.#arrived(topic, queueId, this.queues.maxOffset(topic, queueId));
    }
  }

  /** 4.9: PullMessageProcessor#executeRequestWhenWakeup: the whole pull once more, now with an answer whatever it finds. */
  async #wake(held: HeldPull): Promise<void> {
    if (!this.#held.remove(held)) return;
    if (this.#held.count === 0) this.queues.wantArrivals(false);
    const { request, connection } = held;
    try {
      const reply = await this.#pull(request, connection, false);
      if (reply !== undefined) connection.reply(request, reply);
    } catch (error) {
      this.logger.error({ error: String(error), remote: connection.remote }, 'a held pull could not be answered');
      connection.reply(request, { code: ResponseCode.SYSTEM_ERROR, remark: String(error) });
    }
  }

  #dropped(connection: Connection): void {
    this.#held.drop(connection);
    if (this.#held.count === 0) this.queues.wantArrivals(false);
  }

  #count(selection: Selection): void {
    this.counters.getMessages += selection.messages;
    this.counters.getBytes += selection.bytes;
    if (selection.messages > 0) this.counters.getFound++;
    else this.counters.getMissed++;
  }

  #logMoved(header: PullMessageRequestHeader, { status, nextOffset }: Selection, connection: Connection): void {
    const { consumerGroup: group, topic, queueId, queueOffset: asked } = header;
    this.logger.warn(
      { group, topic, queueId, asked, moved: nextOffset, status, client: connection.remote },
      'pull offset moved',
    );
  }
}

/** 4.9: the switch over GetMessageStatus in PullMessageProcessor#processRequest. */
function codeOf({ status }: Selection, offset: number): number {
  switch (status) {
    case 'FOUND':
      return ResponseCode.SUCCESS;
    case 'MESSAGE_WAS_REMOVING':
    case 'NO_MATCHED_MESSAGE':
      return ResponseCode.PULL_RETRY_IMMEDIATELY;
    case 'NO_MATCHED_LOGIC_QUEUE':
    case 'NO_MESSAGE_IN_QUEUE':
      return offset === 0 ? ResponseCode.PULL_NOT_FOUND : ResponseCode.PULL_OFFSET_MOVED;
    case 'OFFSET_FOUND_NULL':
    case 'OFFSET_OVERFLOW_ONE':
      return ResponseCode.PULL_NOT_FOUND;
    case 'OFFSET_OVERFLOW_BADLY':
    case 'OFFSET_TOO_SMALL':
      return ResponseCode.PULL_OFFSET_MOVED;
  }
}
