import { inject, injectable } from '../../kernel/container.js';
import { QueueWord } from '../../kernel/ring/queue-table.js';
import { TimerWords, type TimerMemory } from '../../kernel/ring/timer-words.js';
import { Clock, Options } from '../../kernel/tokens.js';
import { ResponseCode } from '../../protocol/codes.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { timerDue, type TimerWish } from '../../protocol/message/timer.js';
import { StoreState } from '../commitlog/contract.js';
import type { Place, Timers, TimerRefusal } from './contract.js';

/** Messages with a delivery time of their own lie in one topic until they are due (RocketMQ 5: HookUtils, TimerMessageStore). */
@injectable()
export class TimerPlacement implements Timers {
  readonly memory: TimerMemory = TimerWords.allocate();
  readonly #words = new TimerWords(this.memory);
  #row = -1;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(Options) private readonly options: Options,
    @inject(Clock) private readonly clock: Clock,
  ) {}

  place(topic: string, queueId: number, wish: TimerWish): Place | undefined {
    const now = this.clock.wallMs();
    const due = timerDue(wish, now);
    if (due === undefined || !(due > now)) return undefined;
    const noted = {
      [PropertyName.TIMER_OUT_MS]: String(due),
      [PropertyName.REAL_TOPIC]: topic,
      [PropertyName.REAL_QUEUE_ID]: String(queueId),
    };
    return { topic: SystemTopic.TIMER, queueId: 0, noted };
  }

  refusal(wish: TimerWish): TimerRefusal | undefined {
    if (wish.cancel !== undefined)
      return illegal('cancelling a delayed message (property TIMER_DEL_UNIQKEY) is not supported by this broker');
    const now = this.clock.wallMs();
    const due = timerDue(wish, now);
    if (due === undefined || due <= now) return undefined;
    if (Number.isNaN(due))
      return illegal('timer message illegal, TIMER_DELAY_SEC, TIMER_DELAY_MS or TIMER_DELIVER_MS is no number');
    const maxMs = this.options.timerMaxDelaySec * 1000;
    // RocketMQ 5: SendMessageProcessor#handlePutMessageResult.
    if (due - now > maxMs)
      return illegal(
        `timer message illegal, the delay time should not be bigger than the max delay ${maxMs}ms; ` +
          'or if set del msg, the delay time should be bigger than the current time (timerMaxDelaySec)',
      );
    const { timerPendingMax } = this.options;
    if (this.#pending() < timerPendingMax) return undefined;
    return {
      code: ResponseCode.SYSTEM_BUSY,
      remark: `${timerPendingMax} messages wait for a delivery time of their own already (timerPendingMax)`,
    };
  }

  #pending(): number {
    const { queueTable } = this.state;
    if (this.#row < 0) this.#row = queueTable.find(SystemTopic.TIMER, 0);
    return this.#row < 0 ? 0 : queueTable.get(this.#row, QueueWord.next) - this.#words.settled;
  }
}

function illegal(remark: string): TimerRefusal {
  return { code: ResponseCode.MESSAGE_ILLEGAL, remark };
}
