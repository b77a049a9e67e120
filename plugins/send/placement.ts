import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { ResponseCode, SysFlag } from '../../protocol/codes.js';
import { PropertyName } from '../../protocol/message/properties.js';
import type { TimerWish } from '../../protocol/message/timer.js';
import { Delays, Timers, type Place } from '../schedule/contract.js';
import { Halves } from '../transaction/contract.js';
import { encodedNotes, type PropertyScan } from './property-scan.js';
import type { SendWork } from './work.js';

/**
 * The broker's own notes. A consumer that sends on what it got would bring those of another transaction, which would be taken for
 * this one's.
 */
const NOT_OF_HALVES = [
  PropertyName.REAL_TOPIC,
  PropertyName.REAL_QUEUE_ID,
  PropertyName.TRANSACTION_PREPARED_QUEUE_OFFSET,
  PropertyName.TRANSACTION_CHECK_TIMES,
].map((name) => Buffer.from(name));

/** Of a delayed message; the same of an earlier delay would be taken for these. */
const NOT_OF_DELAYED = [PropertyName.DELAY_TIME_LEVEL, PropertyName.REAL_TOPIC, PropertyName.REAL_QUEUE_ID].map(
  (name) => Buffer.from(name),
);

/** Delayed messages and halves of transactions are stored in a topic of the system, with a note where they are to go. */
@injectable()
export class Placement {
  /** Halves for one queue have one place, again and again. */
  readonly #halfNotes = new WeakMap<Place, DataView>();

  constructor(
    @inject(Delays) private readonly delays: Delays,
    @inject(Timers) private readonly timers: Timers,
    @inject(Halves) private readonly halves: Halves,
    @inject(Options) private readonly options: Options,
  ) {}

  /** Puts the message where it belongs. False when it is refused. */
  place(work: SendWork, scan: PropertyScan): boolean {
    if (Number.isNaN(scan.delayLevel))
      return work.refuse(ResponseCode.MESSAGE_ILLEGAL, 'the delay level (property DELAY) is no number');
    // A delay level is stronger (RocketMQ 5: HookUtils#checkIfTimerMessage).
    const timer = scan.delayLevel === 0 ? scan.timer : undefined;
    const refusal = timer === undefined || isDeadLetter(work) ? undefined : this.timers.refusal(timer);
    if (refusal !== undefined) return work.refuse(refusal.code, refusal.remark);
    if (scan.transaction) return this.#half(work, scan);
    if (scan.delayLevel !== 0) return this.#delay(work, scan);
    return timer === undefined || this.#time(work, scan, timer);
  }

  /** The first half of a transaction. A delay counts when it is committed. */
  #half(work: SendWork, scan: PropertyScan): boolean {
    const { rejectTransactionMessage, brokerIP1 } = this.options;
    if (rejectTransactionMessage)
      return work.refuse(
        ResponseCode.NO_PERMISSION,
        `the broker[${brokerIP1}] sending transaction message is forbidden`,
      );
    if (this.halves.refusal !== undefined) return work.refuse(ResponseCode.SYSTEM_BUSY, this.halves.refusal);
    const { buffer, propertiesStart, propertiesEnd } = work.fields;
    scan.keepAllBut(NOT_OF_HALVES, buffer, propertiesStart, propertiesEnd);
    work.sysFlag &= ~SysFlag.TRANSACTION_ROLLBACK;
    const place = this.halves.place(work.topic, work.queueId);
    work.topic = place.topic;
    work.queueId = place.queueId;
    let notes = this.#halfNotes.get(place);
    if (notes === undefined) this.#halfNotes.set(place, (notes = encodedNotes(place.noted)));
    scan.putEncoded(notes);
    return true;
  }

  #delay(work: SendWork, scan: PropertyScan): boolean {
    const { delayLevel } = scan;
    // A dead letter is stored at once, whatever delay its retry had (B19). What its client marked as half of a transaction without
    // TRAN_MSG is in no queue at all (4.9: CommitLog#asyncPutMessage).
    if (isDeadLetter(work) || isMarkedOnly(work)) {
      scan.put({ [PropertyName.DELAY_TIME_LEVEL]: String(delayLevel) });
      return true;
    }
    const { buffer, propertiesStart, propertiesEnd } = work.fields;
    scan.keepAllBut(NOT_OF_DELAYED, buffer, propertiesStart, propertiesEnd);
    put(work, scan, this.delays.place(work.topic, work.queueId, delayLevel));
    return true;
  }

  #time(work: SendWork, scan: PropertyScan, wish: TimerWish): boolean {
    if (isDeadLetter(work) || isMarkedOnly(work)) return true;
    const place = this.timers.place(work.topic, work.queueId, wish);
    if (place !== undefined) put(work, scan, place);
    return true;
  }
}

function put(work: SendWork, scan: PropertyScan, { topic, queueId, noted }: Place): void {
  work.topic = topic;
  work.queueId = queueId;
  scan.put(noted);
}

function isMarkedOnly({ sysFlag }: SendWork): boolean {
  const type = sysFlag & SysFlag.TRANSACTION_ROLLBACK;
  return type === SysFlag.TRANSACTION_PREPARED || type === SysFlag.TRANSACTION_ROLLBACK;
}

function isDeadLetter(work: SendWork): boolean {
  return work.topic !== work.fields.topicText();
}
