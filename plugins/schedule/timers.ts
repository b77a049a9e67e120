import { inject, injectable } from '../../kernel/container.js';
import { Clock, Options } from '../../kernel/tokens.js';
import { ResponseCode } from '../../protocol/codes.js';
import { SystemTopic } from '../../protocol/message/names.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { timerDue, type TimerWish } from '../../protocol/message/timer.js';
import type { Place, Timers, TimerRefusal } from './contract.js';

/** Messages with a delivery time of their own lie in one topic until they are due (RocketMQ 5: HookUtils, TimerMessageStore). */
@injectable()
export class TimerPlacement implements Timers {
  constructor(
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
      return illegal(
        'a delayed message cannot be cancelled (property TIMER_DEL_UNIQKEY): this broker does not support it',
      );
    const now = this.clock.wallMs();
    const due = timerDue(wish, now);
    if (due === undefined || due <= now) return undefined;
    if (Number.isNaN(due))
      return illegal(
        'timer message illegal, its delay (TIMER_DELAY_SEC, TIMER_DELAY_MS, TIMER_DELIVER_MS) is no number',
      );
    const max = this.options.timerMaxDelaySec * 1000;
    // RocketMQ 5: SendMessageProcessor#handlePutMessageResult.
    if (due - now > max)
      return illegal(
        `timer message illegal, the delay time should not be bigger than the max delay ${max}ms; ` +
          'or if set del msg, the delay time should be bigger than the current time (timerMaxDelaySec)',
      );
    return undefined;
  }
}

function illegal(remark: string): TimerRefusal {
  return { code: ResponseCode.MESSAGE_ILLEGAL, remark };
}
