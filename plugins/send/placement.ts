import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';
import { ResponseCode, SysFlag } from '../../protocol/codes.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { Delays } from '../schedule/contract.js';
import { Halves } from '../transaction/contract.js';
import type { PropertyScan } from './property-scan.js';
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

/** Delayed messages and halves of transactions are stored in a topic of the system, with a note where they are to go. */
@injectable()
export class Placement {
  constructor(
    @inject(Delays) private readonly delays: Delays,
    @inject(Halves) private readonly halves: Halves,
    @inject(Options) private readonly options: Options,
  ) {}

  /** Puts the message where it belongs. False when it is refused. */
  place(work: SendWork, scan: PropertyScan): boolean {
    if (Number.isNaN(scan.delayLevel))
      return work.refuse(ResponseCode.MESSAGE_ILLEGAL, 'the delay level (property DELAY) is no number');
    if (scan.transaction) return this.#half(work, scan);
    return scan.delayLevel === 0 || this.#delay(work, scan);
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
    const { topic, queueId, noted } = this.halves.place(work.topic, work.queueId);
    work.topic = topic;
    work.queueId = queueId;
    work.sysFlag &= ~SysFlag.TRANSACTION_ROLLBACK;
    const { buffer, propertiesStart, propertiesEnd } = work.fields;
    scan.keepAllBut(NOT_OF_HALVES, buffer, propertiesStart, propertiesEnd);
    scan.put(noted);
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
    const { topic, queueId, noted } = this.delays.place(work.topic, work.queueId, delayLevel);
    work.topic = topic;
    work.queueId = queueId;
    scan.put(noted);
    return true;
  }
}

function isMarkedOnly({ sysFlag }: SendWork): boolean {
  const type = sysFlag & SysFlag.TRANSACTION_ROLLBACK;
  return type === SysFlag.TRANSACTION_PREPARED || type === SysFlag.TRANSACTION_ROLLBACK;
}

function isDeadLetter(work: SendWork): boolean {
  return work.topic !== work.fields.topicText();
}
