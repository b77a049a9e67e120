import { PropertyName } from './properties.js';

/** What a message says about a delivery time of its own: the values of its properties, as they came (RocketMQ 5: MessageConst). */
export interface TimerWish {
  readonly delaySec?: string;
  readonly delayMs?: string;
  readonly deliverMs?: string;
  /** It was delayed already, by whoever stored it before: it is not a second time. */
  readonly out?: string;
  /** It asks to cancel another one. */
  readonly cancel?: string;
}

const fields: ReadonlyMap<string, keyof TimerWish> = new Map([
  [PropertyName.TIMER_DELAY_SEC, 'delaySec'],
  [PropertyName.TIMER_DELAY_MS, 'delayMs'],
  [PropertyName.TIMER_DELIVER_MS, 'deliverMs'],
  [PropertyName.TIMER_OUT_MS, 'out'],
  [PropertyName.TIMER_DEL_UNIQKEY, 'cancel'],
]);

export function timerField(property: string): keyof TimerWish | undefined {
  return fields.get(property);
}

export function timerWishOf(properties: ReadonlyMap<string, string>): TimerWish | undefined {
  let wish: TimerWish | undefined;
  for (const [property, field] of fields) {
    const value = properties.get(property);
    if (value !== undefined) wish = { ...wish, [field]: value };
  }
  return wish;
}

/**
 * When the message wants to be delivered, ms, asked at `nowMs` (RocketMQ 5: HookUtils#transformTimerMessage). Undefined when it says nothing
 * of it, NaN when what it says is no number.
 */
export function timerDue(wish: TimerWish, nowMs: number): number | undefined {
  if (wish.out !== undefined) return undefined;
  if (wish.delaySec !== undefined) return nowMs + parseLong(wish.delaySec) * 1000;
  if (wish.delayMs !== undefined) return nowMs + parseLong(wish.delayMs);
  return wish.deliverMs === undefined ? undefined : parseLong(wish.deliverMs);
}

/** Java: Long#parseLong. */
function parseLong(text: string): number {
  if (!/^[+-]?\d{1,40}$/.test(text)) return NaN;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? Number(value) : NaN;
}
