import assert from 'node:assert/strict';
import { systemClock } from '../../../kernel/base/clock.js';
import { RequestCode } from '../../../protocol/codes.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fillTopic, hours, logFiles, makeOld, queueSpan, smallFiles } from '../../support/old-store.js';
import type { RawClient } from '../../support/raw-client.js';
import { propertyText, pull, pullAll, send } from '../../support/send-pull.js';
import { tempDir } from '../../support/temp-dir.js';
import { testBroker, type TestBroker } from '../../support/test-broker.js';
import { until } from '../../support/until.js';

const HOUR_MS = 3_600_000;

async function sendDelayed(client: RawClient, properties: Record<string, string>, body: string): Promise<void> {
  const { code } = await send(client, { topic: 'Late', properties: propertyText(properties), body: Buffer.from(body) });
  assert.equal(code, 0);
}

describe('delayed messages in files that are deleted', () => {
  it('are delivered once, at their time, also after a restart', async () => {
    using dir = tempDir();
    const clock = new FakeClock(systemClock.wallMs());
    const start = (): Promise<TestBroker> =>
      testBroker({
        clock,
        options: { ...smallFiles, storePathRootDir: dir.path, deleteWhen: hours().never, messageDelayLevel: '2h' },
      });
    {
      await using broker = await start();
      using client = await broker.connect();
      await sendDelayed(client, { TIMER_DELAY_SEC: '3600' }, 'a');
      await sendDelayed(client, { DELAY: '1' }, 'level');
      await sendDelayed(client, { TIMER_DELAY_SEC: '3600' }, 'b');
      await fillTopic(client, 60);
      await pullAll(client, 60);
      const [first] = logFiles(dir.path);
      makeOld(dir.path, 3);
      await client.ask(RequestCode.DELETE_EXPIRED_COMMITLOG);
      await until(() => !logFiles(dir.path).includes(first), 'the first files are deleted');
      await until(async () => (await queueSpan(client, 'rmq_sys_wheel_timer'))[1] === 5, 'three are stored again');
      assert.deepEqual(await queueSpan(client, 'rmq_sys_wheel_timer'), [2, 5]);
      assert.deepEqual(
        broker.lines.filter(({ level }) => level === 'error'),
        [],
      );
    }
    await using broker = await start();
    using client = await broker.connect();
    const bodies = async (): Promise<string[]> =>
      (await pull(client, { topic: 'Late' })).messages.map(({ body }) => Buffer.from(body).toString());
    clock.advance(HOUR_MS - 1);
    assert.deepEqual(await bodies(), []);
    clock.advance(1);
    await until(async () => (await bodies()).length >= 2, 'two are delivered');
    clock.advance(HOUR_MS);
    await until(async () => (await bodies()).length >= 3, 'the third is delivered');
    assert.deepEqual((await bodies()).sort(), ['a', 'b', 'level']);
    assert.doesNotMatch(JSON.stringify(broker.lines), /before they were delivered|some of them again/);
  });
});
