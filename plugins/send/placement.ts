import { inject, injectable } from '../../kernel/container.js';
import { ResponseCode, SysFlag } from '../../protocol/codes.js';
import { PropertyName } from '../../protocol/message/properties.js';
import type { TimerWish } from '../../protocol/message/timer.js';
import { Delays, Timers, type Place } from '../schedule/contract.js';
import type { PropertyScan } from './property-scan.js';
import type { SendWork } from './work.js';

/** Delayed messages and halves of transactions are stored in a topic of the system, with a note where they are to go. */
@injectable()
export class Placement {
  constructor(
    @inject(Delays) private readonly delays: Delays,
    @inject(Timers) private readonly timers: Timers,
  ) {}

  /** Puts the message where it belongs. False when it is refused. */
  place(work: SendWork, scan: PropertyScan): boolean {
    if (scan.transaction || (work.sysFlag & SysFlag.TRANSACTION_ROLLBACK) !== 0)
      return work.refuse(
        ResponseCode.MESSAGE_ILLEGAL,
        'transactional messages (property TRAN_MSG) are not supported yet',
      );
    if (scan.delayLevel !== 0) return this.#delay(work, scan);
    return scan.timer === undefined || this.#time(work, scan, scan.timer);
  }

  #delay(work: SendWork, scan: PropertyScan): boolean {
    const { delayLevel } = scan;
    if (Number.isNaN(delayLevel))
      return work.refuse(ResponseCode.MESSAGE_ILLEGAL, 'the delay level (property DELAY) is no number');
    // A dead letter is stored at once, whatever delay its retry had (B19).
    if (isDeadLetter(work)) {
      scan.put({ [PropertyName.DELAY_TIME_LEVEL]: String(delayLevel) });
      return true;
    }
    put(work, scan, this.delays.place(work.topic, work.queueId, delayLevel));
    return true;
  }

  /** A delay level is stronger (RocketMQ 5: HookUtils#checkIfTimerMessage). */
  #time(work: SendWork, scan: PropertyScan, wish: TimerWish): boolean {
    if (isDeadLetter(work)) return true;
    const refusal = this.timers.refusal(wish);
    if (refusal !== undefined) return work.refuse(refusal.code, refusal.remark);
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

function isDeadLetter(work: SendWork): boolean {
  return work.topic !== work.fields.topicText();
}
