import { inject, injectable } from '../../kernel/container.js';
import { ResponseCode, SysFlag } from '../../protocol/codes.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { Delays } from '../schedule/contract.js';
import type { PropertyScan } from './property-scan.js';
import type { SendWork } from './work.js';

/** Delayed messages and halves of transactions are stored in a topic of the system, with a note where they are to go. */
@injectable()
export class Placement {
  constructor(@inject(Delays) private readonly delays: Delays) {}

  /** Puts the message where it belongs. False when it is refused. */
  place(work: SendWork, scan: PropertyScan): boolean {
    if (scan.transaction || (work.sysFlag & SysFlag.TRANSACTION_ROLLBACK) !== 0)
      return work.refuse(
        ResponseCode.MESSAGE_ILLEGAL,
        'transactional messages (property TRAN_MSG) are not supported yet',
      );
    if (scan.delayLevel !== 0) return this.#delay(work, scan);
    return true;
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
    const { topic, queueId, noted } = this.delays.place(work.topic, work.queueId, delayLevel);
    work.topic = topic;
    work.queueId = queueId;
    scan.put(noted);
    return true;
  }
}

function isDeadLetter(work: SendWork): boolean {
  return work.topic !== work.fields.topicText();
}
