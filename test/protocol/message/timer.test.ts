import assert from 'node:assert/strict';
import { timerDue, timerWishOf } from '../../../protocol/message/timer.js';

const NOW = 1_700_000_000_000;
const due = (properties: Record<string, string>): number | undefined => {
  const wish = timerWishOf(new Map(Object.entries(properties)));
  return wish === undefined ? undefined : timerDue(wish, NOW);
};

/** RocketMQ 5: HookUtils#checkIfTimerMessage, #transformTimerMessage. */
describe('delivery time of a message', () => {
  for (const [what, properties, expected] of [
    ['is none without a property of it', { KEYS: 'k', TIMER: '1', TIMER_DELAY: '1' }, undefined],
    ['is so many seconds away', { TIMER_DELAY_SEC: '3' }, NOW + 3000],
    ['is so many milliseconds away', { TIMER_DELAY_MS: '+7' }, NOW + 7],
    ['is a time of day', { TIMER_DELIVER_MS: String(NOW + 9) }, NOW + 9],
    ['is the seconds before the milliseconds', { TIMER_DELAY_MS: '5', TIMER_DELAY_SEC: '1' }, NOW + 1000],
    ['is the milliseconds before the time of day', { TIMER_DELIVER_MS: '5', TIMER_DELAY_MS: '6' }, NOW + 6],
    ['may be past', { TIMER_DELAY_SEC: '-2' }, NOW - 2000],
    ['is none when it was delayed before', { TIMER_DELAY_SEC: '1', TIMER_OUT_MS: '5' }, undefined],
    ['is none of a cancellation alone', { TIMER_DEL_UNIQKEY: 'x' }, undefined],
    ['may have zeros before it', { TIMER_DELAY_MS: '00000000000000000000000012' }, NOW + 12],
    ['is not read when it is no number', { TIMER_DELAY_MS: '1.5' }, NaN],
    ['is not read when it is empty', { TIMER_DELAY_MS: ' ' }, NaN],
    ['is the largest long', { TIMER_DELIVER_MS: '9223372036854775807' }, 2 ** 63],
    ['is not read beyond it', { TIMER_DELIVER_MS: '9223372036854775808' }, NaN],
  ] as const)
    it(what, () => assert.equal(due(properties), expected));
});
