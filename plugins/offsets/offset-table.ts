import { setImmediate as nextTurn } from 'node:timers/promises';
import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger } from '../../kernel/tokens.js';
import { groupProblem, topicProblem } from '../../protocol/message/names.js';
import type { ConfigFile } from '../../store/metadata/config-file.js';
import type { Offsets } from './contract.js';
import { OffsetsFile } from './offsets-file.js';
import { decodeOffsetsFile, encodeOffsets } from './offsets-json.js';

/** Committed positions over all topics, groups and queues; some 100 bytes each. */
export const OFFSETS_MAX = 1_000_000;
/** As many queues as a topic may have. */
const QUEUE_ID_MAX = 65_535;
const LOG_INTERVAL_MS = 1000;

type ByQueue = Map<number, number>;

/** 4.9: ConsumerOffsetManager. */
@injectable()
export class OffsetTable implements Offsets {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #file: ConfigFile;
  readonly #tree = new Map<string, Map<string, ByQueue>>();
  #count = 0;
  #changed = false;
  #loggedMonoMs = -Infinity;

  constructor(@inject(Clock) clock: Clock, @inject(Logger) logger: Logger, @inject(OffsetsFile) file: ConfigFile) {
    this.#clock = clock;
    this.#logger = logger;
    this.#file = file;
  }

  /**
   * Throws when the file is damaged: starting without it would send every group to its first boot. `endOf` tells where a queue ends,
   * when the log may have lost its tail since the file was written: a group that stands beyond would pass over what comes next.
   */
  load(endOf: (topic: string, queueId: number) => number | undefined = () => undefined): void {
    const content = this.#file.load(decodeOffsetsFile);
    if (content === undefined) return;
    for (const [key, offsets] of content) {
      const [topic, group, more] = key.split('@');
      if (topic === undefined || topic === '' || group === undefined || group === '' || more !== undefined) {
        this.#logger.warn({ key }, 'entry of consumerOffset.json left out: its key is not topic@group');
        continue;
      }
      const target = this.#queuesOf(topic, group);
      for (const [queueId, offset] of offsets)
        target.set(queueId, this.#within(key, queueId, offset, endOf(topic, queueId)));
      this.#count += offsets.size;
    }
  }

  #within(key: string, queueId: number, offset: number, end: number | undefined): number {
    if (end === undefined || offset <= end) return offset;
    this.#changed = true;
    this.#logger.warn({ key, queueId, offset, end }, 'a committed offset lay beyond the end of its queue: set back');
    return end;
  }

  query(group: string, topic: string, queueId: number): number {
    return this.#tree.get(topic)?.get(group)?.get(queueId) ?? -1;
  }

  commit(client: string, group: string, topic: string, queueId: number, offset: number): void {
    const problem = this.tryCommit(client, group, topic, queueId, offset);
    if (problem !== undefined) this.#log({ client, group, topic, queueId, offset, problem }, 'offset not committed');
  }

  /** As `commit`; returns why it was not done. A lower offset than before is taken, as in 4.9: resets come so. */
  tryCommit(client: string, group: string, topic: string, queueId: number, offset: number): string | undefined {
    if (!(offset >= 0)) return `commitOffset must not be negative: ${offset}`;
    const known = this.#tree.get(topic)?.get(group);
    const before = known?.get(queueId);
    if (before === undefined) {
      const problem = this.#problemOf(group, topic, queueId);
      if (problem !== undefined) return problem;
      this.#count++;
    } else if (offset < before) {
      this.#log({ client, group, topic, queueId, offset, before }, 'offset committed below the one before');
    }
    (known ?? this.#queuesOf(topic, group)).set(queueId, offset);
    this.#changed = true;
    return undefined;
  }

  ofTopic(group: string, topic: string): ReadonlyMap<number, number> | undefined {
    return this.#tree.get(topic)?.get(group);
  }

  topicsOf(group: string): string[] {
    const topics: string[] = [];
    for (const [topic, groups] of this.#tree) if (groups.has(group)) topics.push(topic);
    return topics;
  }

  groupsOf(topic: string): string[] {
    return [...(this.#tree.get(topic)?.keys() ?? [])];
  }

  deleteGroup(group: string): void {
    for (const [topic, groups] of this.#tree) {
      const offsets = groups.get(group);
      if (offsets === undefined) continue;
      groups.delete(group);
      if (groups.size === 0) this.#tree.delete(topic);
      this.#count -= offsets.size;
      this.#changed = true;
      this.#logger.warn({ topic, group }, 'offsets of a group deleted');
    }
  }

  /** The body of GET_ALL_CONSUMER_OFFSET. */
  async encoded(): Promise<Buffer> {
    return Buffer.from(await encodeOffsets(this.#tree, 'compact', nextTurn));
  }

  /** Writes the file when something changed since the last write began. */
  async persist(): Promise<void> {
    if (!this.#changed && !this.#file.dirty) return this.#file.settled();
    this.#changed = false;
    await this.#file.save(() => encodeOffsets(this.#tree, 'pretty', nextTurn));
  }

  #problemOf(group: string, topic: string, queueId: number): string | undefined {
    if (queueId < 0 || queueId > QUEUE_ID_MAX) return `queueId must be between 0 and ${QUEUE_ID_MAX}: ${queueId}`;
    if (this.#count >= OFFSETS_MAX) return `there are ${OFFSETS_MAX} committed offsets already: delete unused groups`;
    return topicProblem(topic) ?? groupProblem(group);
  }

  #queuesOf(topic: string, group: string): ByQueue {
    let groups = this.#tree.get(topic);
    if (groups === undefined) this.#tree.set(topic, (groups = new Map<string, ByQueue>()));
    let queues = groups.get(group);
    if (queues === undefined) groups.set(group, (queues = new Map<number, number>()));
    return queues;
  }

  /** A client at odds with us would fill the log with each of its pulls. */
  #log(fields: object, message: string): void {
    const now = this.#clock.monoMs();
    if (now - this.#loggedMonoMs < LOG_INTERVAL_MS) return;
    this.#loggedMonoMs = now;
    this.#logger.warn(fields, message);
  }
}
