import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../kernel/base/clock.js';
import { RequestCode, ResponseCode } from '../../../protocol/codes.js';
import {
  decodeQueryConsumerOffsetResponse,
  encodeQueryConsumerOffset,
} from '../../../protocol/headers/query-consumer-offset.js';
import { encodeUpdateConsumerOffset } from '../../../protocol/headers/update-consumer-offset.js';
import { decodeTopicsFile } from '../../../plugins/topics/topics-json.js';
import { RawClient } from '../../support/raw-client.js';
import { until } from '../../support/until.js';
import type { BrokerProcess } from './broker-process.js';
import { createTopic } from './scene.js';

const place = { consumerGroup: 'settings', topic: 'T', queueId: 0 };
const COMMIT_EVERY_MS = 5;
const TOPIC_EVERY_MS = 100;
const LIMIT_MS = 60_000;

/** B03: a group that commits 1, 2, 3, …, and a new topic ten times a second; and what of it must be there after a power cut. */
export class SettingsLoad {
  readonly #topics: string[] = [];
  readonly #commits: { readonly offset: number; readonly ackedMs: number }[] = [];
  #offset = 0;
  #going: Promise<void> | undefined;
  #stopped = false;

  constructor(private readonly persistMs: number) {}

  /** Until `stop`, or until the broker answers no more. */
  start(port: number): void {
    this.#stopped = false;
    this.#going = this.#go(port).catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#going;
  }

  /** `cutMs`: when the power went, by the monotonic clock. `slackMs`: what a write may take. */
  async check(broker: BrokerProcess, cutMs: number, slackMs: number): Promise<void> {
    const config = join(broker.storeDir, 'config');
    for (const name of readdirSync(config).filter((one) => one.endsWith('.json')))
      assert.ok(readFileSync(join(config, name)).length > 0, `${name} is empty`);
    const { topicConfigTable } = decodeTopicsFile(readFileSync(join(config, 'topics.json')));
    for (const topic of this.#topics)
      assert.ok(topicConfigTable.has(topic), `topic ${topic} was created and acknowledged, and is gone`);
    const found = await committed(broker.port);
    const old = this.#commits.filter(({ ackedMs }) => ackedMs < cutMs - this.persistMs - slackMs).at(-1);
    if (old !== undefined) assert.ok(found >= old.offset, `offset ${found}; ${old.offset} was committed long before`);
    assert.ok(found <= this.#offset, `offset ${found} was never committed`);
    // What the cut took is not owed any more.
    this.#commits.length = 0;
    if (found > 0) this.#commits.push({ offset: found, ackedMs: 0 });
  }

  async #go(port: number): Promise<void> {
    using client = await RawClient.connect(`127.0.0.1:${port}`);
    let topicMs = 0;
    let commitMs = 0;
    const isDue = (): boolean => this.#stopped || systemClock.monoMs() >= commitMs + COMMIT_EVERY_MS;
    while (!this.#stopped) {
      const commitOffset = ++this.#offset;
      const ext = encodeUpdateConsumerOffset({ ...place, commitOffset });
      const { code } = await client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, { ext });
      commitMs = systemClock.monoMs();
      if (code === ResponseCode.SUCCESS) this.#commits.push({ offset: commitOffset, ackedMs: commitMs });
      if (commitMs - topicMs >= TOPIC_EVERY_MS) {
        topicMs = commitMs;
        const topic = `settings-${commitOffset}`;
        await createTopic(port, topic, 1);
        this.#topics.push(topic);
      }
      await until(isDue, 'the next commit', LIMIT_MS);
    }
  }
}

/** -1 when the group is unknown. */
async function committed(port: number): Promise<number> {
  using client = await RawClient.connect(`127.0.0.1:${port}`);
  const answer = await client.ask(RequestCode.QUERY_CONSUMER_OFFSET, { ext: encodeQueryConsumerOffset(place) });
  return answer.code === ResponseCode.SUCCESS ? decodeQueryConsumerOffsetResponse(answer.ext).offset : -1;
}
