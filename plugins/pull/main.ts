import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain } from '../../kernel/plugin.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { PullSysFlag, RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { PULL_ANSWER_BYTES_MAX, writePullAnswer } from '../../protocol/headers/pull-answer-fast.js';
import { decodePull } from '../../protocol/headers/pull-message-fast.js';
import {
  encodePullMessageResponse,
  type PullMessageRequestHeader,
  type PullMessageResponseHeader,
} from '../../protocol/headers/pull-message.js';
import { Counters, GroupRates } from '../metrics/contract.js';
import { Offsets } from '../offsets/contract.js';
import { Connections, RequestRouter, type Connection, type Reply } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { PullChecks, type CheckedPull } from './checks.js';
import { HeldPulls, type HeldPull } from './held-pulls.js';
import { OffsetMoved } from './offset-moved.js';
import type { SelectRequest, Selection } from './selection.js';
import { ColdPullsBusy, MessageSelector } from './selector.js';
import { SlowGroups } from './slow-groups.js';

const MASTER_ID = 0;

/** One pull on its way to an answer. */
interface OpenPull {
  readonly request: Request;
  readonly connection: Connection;
  readonly mayHold: boolean;
  readonly checked: CheckedPull;
  readonly select: SelectRequest;
}

/** PULL_MESSAGE (11): answered from the store, or held until something arrives. */
@injectable()
export class Pull implements PluginMain {
  readonly #held = new HeldPulls();
  #sweep: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(
    @inject(RequestRouter) private readonly router: RequestRouter,
    @inject(Connections) private readonly connections: Connections,
    @inject(Queues) private readonly queues: Queues,
    @inject(PullChecks) private readonly checks: PullChecks,
    @inject(MessageSelector) private readonly selector: MessageSelector,
    @inject(SlowGroups) private readonly slowGroups: SlowGroups,
    @inject(Offsets) private readonly offsets: Offsets,
    @inject(Counters) private readonly counters: Counters,
    @inject(GroupRates) private readonly rates: GroupRates,
    @inject(OffsetMoved) private readonly moved: OffsetMoved,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  start(): void {
    this.router.handleInPlace(RequestCode.PULL_MESSAGE, (request, connection) => this.#pull(request, connection, true));
    this.queues.onArrival((topic, queueId, maxOffset) => this.#arrived(topic, queueId, maxOffset));
    this.connections.onClose((connection) => this.#dropped(connection));
    this.slowGroups.start();
    const { longPollingEnable, heldPullCheckIntervalMs, shortPollingTimeMills } = this.options;
    this.#sweep = setInterval(() => this.#check(), longPollingEnable ? heldPullCheckIntervalMs : shortPollingTimeMills);
  }

  /** Whoever waits is told that there is nothing, rather than cut off. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#sweep);
    this.slowGroups.close();
    await Promise.all(this.#held.all().map((held) => this.#wake(held)));
  }

  /** Answered at once when it can be; a promise when cold data has to be read. */
  #pull(request: Request, connection: Connection, mayHold: boolean): Reply | undefined | Promise<Reply | undefined> {
    const header = decodePull(request);
    const checked = this.checks.check(header, connection);
    if (!('filter' in checked)) return checked;
    const { topic, queueId, queueOffset: offset, maxMsgNums: maxMessages } = header;
    const select: SelectRequest = { topic, queueId, offset, maxMessages, filter: checked.filter };
    const selection = this.selector.select(select);
    if (!(selection instanceof Promise))
      return this.#answer({ request, connection, mayHold, checked, select }, selection);
    const kept = mayHold ? request.copied() : request;
    return selection.then(
      (late) => this.#answer({ request: kept, connection, mayHold, checked, select }, late),
      busyOrThrow,
    );
  }

  #answer(pull: OpenPull, selection: Selection): Reply | undefined {
    const { request, connection, checked, select } = pull;
    const { header } = checked;
    this.#count(selection, header);
    if (selection.behindBytes >= 0) this.slowGroups.saw(header, selection.behindBytes);
    const isSlave = this.options.brokerRole === 'SLAVE';
    if (pull.mayHold && (header.sysFlag & PullSysFlag.COMMIT_OFFSET) !== 0 && !isSlave)
      this.offsets.commit(connection.remote, header.consumerGroup, select.topic, select.queueId, header.commitOffset);
    const code = codeOf(selection, select.offset);
    if (isSlave) {
      const asSlave = this.#slaveFields(code, select.offset, selection, checked);
      if (asSlave !== undefined)
        return {
          code: ResponseCode.PULL_RETRY_IMMEDIATELY,
          remark: selection.status,
          ext: encodePullMessageResponse(asSlave, request.serialize),
        };
    }
    if (code === ResponseCode.PULL_NOT_FOUND && pull.mayHold && this.#hold(pull)) return undefined;
    if (selection.status === 'OFFSET_FOUND_NULL') this.#logMissing(header);
    if (code === ResponseCode.PULL_OFFSET_MOVED) this.moved.note(header, selection, connection);
    const fields = this.#fields(selection, checked);
    if (code !== ResponseCode.SUCCESS)
      return { code, remark: selection.status, ext: encodePullMessageResponse(fields, request.serialize) };
    if (!request.oneway) sendRecords(connection, request, fields, selection);
    return undefined;
  }

  /**
   * Where a slave sends its readers elsewhere: all of them while it may not be read, and one whose offset it does not have. It lags, so the
   * consumer's offset stands (B11).
   */
  #slaveFields(
    code: number,
    offset: number,
    selection: Selection,
    checked: CheckedPull,
  ): PullMessageResponseHeader | undefined {
    const { offsetCheckInSlave, slaveReadEnable } = this.options;
    const keeps = code === ResponseCode.PULL_OFFSET_MOVED && !offsetCheckInSlave;
    if (!keeps && slaveReadEnable) return undefined;
    const fields = this.#fields(keeps ? { ...selection, nextOffset: offset } : selection, checked);
    return { ...fields, suggestWhichBrokerId: slaveReadEnable ? checked.group.brokerId : MASTER_ID };
  }

  #fields(selection: Selection, { group }: CheckedPull): PullMessageResponseHeader {
    const { minOffset, maxOffset, nextOffset: nextBeginOffset } = selection;
    const slaveId = selection.slow ? group.whichBrokerWhenConsumeSlowly : group.brokerId;
    const suggestWhichBrokerId = this.options.slaveReadEnable ? slaveId : MASTER_ID;
    return { suggestWhichBrokerId, nextBeginOffset, minOffset, maxOffset };
  }

  /** False when the pull does not ask to be held, or too many are. */
  #hold({ request, connection, checked: { header }, select }: OpenPull): boolean {
    if ((header.sysFlag & PullSysFlag.SUSPEND) === 0 || this.#closing) return false;
    if (this.#held.count >= this.options.heldPullsMax) return false;
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
      if (!this.#mayMatch(held, maxOffset)) held.lookedTo = maxOffset;
      else if (held.select.filter.matches === undefined) void this.#wake(held);
      else void this.#lookAtRecords(held);
    }
  }

  #mayMatch({ select, lookedTo }: HeldPull, maxOffset: number): boolean {
    try {
      return this.selector.mayMatch(select, lookedTo, maxOffset);
    } catch {
      // The pull itself meets the same error and answers with it.
      return true;
    }
  }

  /** A filter that needs the records: what arrived must match before the client hears of it, or it would only ask again. */
  async #lookAtRecords(held: HeldPull): Promise<void> {
    if (held.looking) return;
    held.looking = true;
    try {
      for (;;) {
        const selection = this.selector.select({ ...held.select, offset: held.lookedTo });
        const { status, nextOffset } = selection instanceof Promise ? await selection : selection;
        if (status === 'OFFSET_OVERFLOW_ONE') return;
        if (status !== 'NO_MATCHED_MESSAGE') break;
        held.lookedTo = nextOffset;
      }
    } catch {
      // The pull itself meets the same error and answers with it.
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

  #count(selection: Selection, { consumerGroup, topic }: PullMessageRequestHeader): void {
    this.counters.getMessages += selection.messages;
    this.counters.getBytes += selection.bytes;
    if (selection.messages > 0) {
      this.counters.getFound++;
      this.rates.count(consumerGroup, topic, selection.messages);
    } else this.counters.getMissed++;
  }

  #logMissing({ topic, queueId, queueOffset }: PullMessageRequestHeader): void {
    this.logger.warn(
      { topic, queueId, queueOffset, remedy: 'restart the broker: missing queue files are built again from the log' },
      'the ConsumeQueue file of an offset is missing: the consumer waits there',
    );
  }
}

/** The answer with its records in one piece, copied once, straight into what leaves the socket. Views cost less than Buffer#copy. */
function sendRecords(
  connection: Connection,
  request: Request,
  fields: PullMessageResponseHeader,
  { slices, bytes }: Selection,
): void {
  const start = connection.reserve(PULL_ANSWER_BYTES_MAX + bytes);
  const { outbound } = connection;
  let at = writePullAnswer(outbound, start, request, fields, bytes);
  let source = outbound;
  let { buffer: memory, byteOffset: sourceAt } = source;
  for (const slice of slices) {
    if (slice.bytes !== source) {
      source = slice.bytes;
      ({ buffer: memory, byteOffset: sourceAt } = source);
    }
    outbound.set(new Uint8Array(memory, sourceAt + slice.at, slice.size), at);
    at += slice.size;
  }
  connection.written(at);
}

function busyOrThrow(error: unknown): Reply {
  if (error instanceof ColdPullsBusy) return { code: ResponseCode.SYSTEM_BUSY, remark: error.message, ext: {} };
  throw error;
}

/** 4.9: the switch over GetMessageStatus in PullMessageProcessor#processRequest. */
function codeOf({ status }: Selection, offset: number): number {
  switch (status) {
    case 'FOUND':
      return ResponseCode.SUCCESS;
    case 'MESSAGE_WAS_REMOVING':
    case 'NO_MATCHED_MESSAGE':
      return ResponseCode.PULL_RETRY_IMMEDIATELY;
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
