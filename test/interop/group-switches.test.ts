import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { PushConsumer } from './support/driver.js';
import { arrived, createTopic, driver, keysOf, mqadmin, numbered, target, unique } from './support/suite.js';

/** What `mqadmin updateSubGroup` of 4.9.7 switches acts on Java consumers at their next pull, and again when it is switched back. */
describe('a group that is switched off with mqadmin', () => {
  const switches = {
    consumeEnable: { flag: '-s', broadcasting: false },
    consumeBroadcastEnable: { flag: '-d', broadcasting: true },
  };
  for (const [name, { flag, broadcasting }] of Object.entries(switches))
    it(`gets nothing, and everything when it is on again: ${name}`, async function () {
      this.timeout(90_000);
      const [java, served] = [await driver(), await target()];
      const { namesrv } = served;
      const topic = unique('switched');
      await createTopic(served, topic, 1);
      const group = unique('group');
      const others = { '-s': 'true', '-d': 'true', '-m': 'true' };
      const put = async (value: string): Promise<void> => {
        const settings = Object.entries({ ...others, [flag]: value }).flat();
        await mqadmin(served, 'updateSubGroup', '-b', served.broker, '-g', group, ...settings);
      };
      const listen = (of: string): Promise<PushConsumer> =>
        java.pushConsumer({ namesrv, group: of, topic, broadcasting });
      await put('true');
      const [consumer, other] = [await listen(group), await listen(unique('group'))];
      const producer = await java.producer(namesrv);
      await producer.send({ topic, body: 'while it is on', keys: 'k0' });
      await Promise.all([arrived(consumer, 1), arrived(other, 1)]);

      await put('false');
      // Each is sent when the one before is stored: who may consume has the first ones by the time that the last arrives.
      const whileOff = numbered(topic, 30, 1);
      for (const message of whileOff) await producer.send(message);
      await arrived(other, 31);
      assert.deepEqual(keysOf(consumer.received), ['k0']);

      await put('true');
      await arrived(consumer, 31);
      assert.deepEqual(keysOf(consumer.received), ['k0', ...keysOf(whileOff)]);
      await Promise.all([producer.close(), consumer.close(), other.close()]);
    });
});
