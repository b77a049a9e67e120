import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../kernel/base/errors.js';
import { Perm, RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { encodeUpdateAndCreateTopic } from '../../../protocol/headers/update-and-create-topic.js';
import { RawClient } from '../../support/raw-client.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { BrokerProcess, type Settings } from './broker-process.js';
import { Load, type LoadShape } from './load.js';
import { sized, wantedSeed } from '../../support/size.js';

const TEST_LIMIT_MS = sized(300_000, 7_200_000);

export const smallFiles = { segmentBytes: 1024 * 1024, queueFileBytes: 6000 };

/** Small files, so that a short run rolls many of them; pulls as large as the audit wants them. */
const smallStore: Settings = {
  mappedFileSizeCommitLog: smallFiles.segmentBytes,
  mappedFileSizeConsumeQueue: smallFiles.queueFileBytes,
  maxMessageSize: 512 * 1024,
  maxTransferCountOnMessageInMemory: 10_000,
  maxTransferBytesOnMessageInMemory: 4 * 1024 * 1024,
  // Whatever the disk of this machine is like.
  diskSpaceWarningLevelRatio: 100,
  diskSpaceCleanForciblyRatio: 100,
};

export const defaultShape: LoadShape = { topic: 'T', queues: 4, producers: 6, window: 48, bodyBytesMax: 1500 };

/** What one test uses; everything is ended and removed with it. */
export class Scene {
  readonly random: SeededRandom;
  readonly #folders: string[] = [];
  readonly #brokers: BrokerProcess[] = [];
  readonly #loads: Load[] = [];
  readonly #later: (() => Promise<void>)[] = [];

  constructor(readonly seed: number) {
    this.random = new SeededRandom(seed);
  }

  folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'mqkernel-chaos-'));
    this.#folders.push(path);
    return path;
  }

  /** Not started yet. */
  broker(settings: Settings = {}, kind: 'command' | 'child' = 'command', storeDir?: string): BrokerProcess {
    const broker = new BrokerProcess(this.folder(), { ...smallStore, ...settings }, kind, storeDir);
    this.#brokers.push(broker);
    return broker;
  }

  load(shape: Partial<LoadShape> = {}): Load {
    const load = new Load({ ...defaultShape, ...shape }, this.random);
    this.#loads.push(load);
    return load;
  }

  /** Ends a load and its broker and forgets both, with what they stored. */
  async discard(broker: BrokerProcess, load: Load): Promise<void> {
    load.cut();
    await broker.kill9();
    rmSync(broker.folder, { recursive: true, force: true });
    this.#brokers.splice(this.#brokers.indexOf(broker), 1);
    this.#loads.splice(this.#loads.indexOf(load), 1);
  }

  /** Does something at the end, before the brokers are ended; the last given is done first. */
  later(work: () => Promise<void>): void {
    this.#later.unshift(work);
  }

  logTails(): string {
    return this.#brokers.map((broker) => broker.logTail()).join('\n');
  }

  async end(): Promise<void> {
    for (const work of this.#later.splice(0)) await work();
    for (const load of this.#loads) load.cut();
    for (const broker of this.#brokers) await broker.kill9();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** A test with a scene of its own. A failure says the seed that repeats it and how the brokers' logs end. */
export function chaosTest(title: string, body: (scene: Scene) => Promise<void>): void {
  it(title, async function () {
    this.timeout(TEST_LIMIT_MS);
    const scene = new Scene(wantedSeed ?? randomInt(2 ** 31));
    try {
      await body(scene);
    } catch (error) {
      const again = `seed ${scene.seed}: CHAOS_SEED=${scene.seed} repeats the choices`;
      throw new Error(`${messageOf(error)}\n${again}\n${scene.logTails()}`, { cause: error });
    } finally {
      await scene.end();
    }
  });
}

/** Makes a topic through the broker; it is on disk when this resolves. */
export async function createTopic(port: number, topic: string, queues: number): Promise<void> {
  using client = await RawClient.connect(`127.0.0.1:${port}`);
  const ext = encodeUpdateAndCreateTopic({
    topic,
    defaultTopic: 'TBW102',
    readQueueNums: queues,
    writeQueueNums: queues,
    perm: Perm.READ | Perm.WRITE,
    topicFilterType: 'SINGLE_TAG',
    topicSysFlag: 0,
    order: false,
  });
  const { code, remark } = await client.ask(RequestCode.UPDATE_AND_CREATE_TOPIC, { ext });
  if (code !== ResponseCode.SUCCESS) throw new Error(`topic ${topic} was not created: ${code} ${remark}`);
}
