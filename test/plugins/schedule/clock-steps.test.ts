import assert from 'node:assert/strict';
import { systemClock, type Clock } from '../../../kernel/base/clock.js';
import { ResponseCode } from '../../../protocol/codes.js';
import { propertyOf } from '../../../protocol/message/properties.js';
import type { StoredMessage } from '../../../protocol/message/record.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pull, send } from '../../support/send-pull.js';
import { testBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DELAY_MS = 1000;

/** Real time, but for what it was set by. */
class SetClock implements Clock {
  #setByMs = 0;

  wallMs(): number {
    return systemClock.wallMs() + this.#setByMs;
  }

  monoMs(): number {
    return systemClock.monoMs();
  }

  step(ms: number): void {
    this.#setByMs += ms;
  }
}

describe('delayed messages while the clock is set', () => {
  for (const stepMs of [2 * SECOND, HOUR, 24 * HOUR])
    it(`by ${stepMs / SECOND} s, back and forth: each comes, once, and none before the time that it names`, async () => {
      const clock = new SetClock();
      await using broker = await testBroker({ clock, options: { messageDelayLevel: '1s' } });
      using client = await broker.connect();
      await sendBoth(client, clock, 'before');
      clock.step(-stepMs);
      // A level's message may come early then, as in 4.9; one that names its time waits until the clock says it.
      await arrive(client, ['level before']);
      await sendBoth(client, clock, 'between');
      clock.step(stepMs);
      await arrive(client, ['level before', 'level between', 'time before', 'time between']);
      await sendBoth(client, clock, 'after');
      clock.step(stepMs);
      const all = await arrive(client, everything);
      assert.deepEqual(all.map(({ body }) => body.toString()).sort(), everything);
      for (const { body, properties, storeTimestamp } of all.filter(({ body }) => body.toString().startsWith('time')))
        assert.ok(
          storeTimestamp >= Number(propertyOf(properties, 'TIMER_DELIVER_MS')),
          `${body.toString()} came early`,
        );
    });
});

const everything = ['level', 'time'].flatMap((what) => ['after', 'before', 'between'].map((when) => `${what} ${when}`));

/** One by its level, one with a time of its own. */
async function sendBoth(client: RawClient, clock: Clock, when: string): Promise<void> {
  const deliverMs = Math.trunc(clock.wallMs()) + DELAY_MS;
  for (const [what, delay] of [
    ['level', { DELAY: '1' }],
    ['time', { TIMER_DELIVER_MS: `${deliverMs}` }],
  ] as const) {
    const properties = propertyText({ ...delay, UNIQ_KEY: `${what} ${when}` });
    const { code, remark } = await send(client, { properties, body: Buffer.from(`${what} ${when}`) });
    assert.equal(code, ResponseCode.SUCCESS, `send of ${what} ${when}: ${remark}`);
  }
}

/** Waits until these are there, told by their bodies; returns all that are. */
async function arrive(client: RawClient, bodies: readonly string[]): Promise<readonly StoredMessage[]> {
  let found: readonly StoredMessage[] = [];
  const there = async (): Promise<boolean> => {
    found = (await pull(client)).messages;
    const texts = new Set(found.map(({ body }) => body.toString()));
    return bodies.every((body) => texts.has(body));
  };
  await until(there, bodies.join(', '), 20 * SECOND);
  return found;
}
