import { inject, injectable } from '../../kernel/container.js';
import { KernelError } from '../../kernel/base/errors.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { Perm } from '../../protocol/codes.js';
import type { DataVersion, TopicConfig } from '../../protocol/bodies/topic-config.js';
import {
  isDeadLetterTopic,
  isRetryTopic,
  isSystemTopic,
  SystemTopic,
  topicProblem,
} from '../../protocol/message/names.js';
import type { ConfigFile } from '../../store/metadata/config-file.js';
import type { Topics } from './contract.js';
import { startTopics, systemTopicNames } from './system-topics.js';
import { TopicsFile } from './topics-file.js';
import { decodeTopicsFile, encodeTopicsFile } from './topics-json.js';

/** 4.9: TopicSysFlag.FLAG_UNIT and FLAG_UNIT_SUB. */
const FLAG_UNIT = 1;
const FLAG_UNIT_SUB = 2;
/** A group brings at most two topics of its own: retry and dead letters. */
const INTERNAL_TOPICS_PER_GROUP = 2;
/** A full table would otherwise log each send. */
const FULL_LOG_INTERVAL_MS = 60_000;

function isInternal(topic: string): boolean {
  return isRetryTopic(topic) || isDeadLetterTopic(topic);
}

/**
 * 4.9: TopicConfigManager. Entries are replaced, never changed in place, so that whoever holds one holds a moment's truth.
 */
@injectable()
export class TopicTable implements Topics {
  readonly systemTopics: ReadonlySet<string>;
  readonly #options: Options;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #file: ConfigFile;
  readonly #deleting = new Set<string>();
  readonly #table = new Map<string, TopicConfig>();
  readonly #listeners: (() => void)[] = [];
  readonly #unsaved = new Map<string, Promise<void>>();
  #version: DataVersion;
  #ordinaryCount = 0;
  #internalCount = 0;
  #fullLoggedMonoMs = -Infinity;

  constructor(
    @inject(Options) options: Options,
    @inject(Clock) clock: Clock,
    @inject(Logger) logger: Logger,
    @inject(TopicsFile) file: ConfigFile,
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#file = file;
    this.systemTopics = systemTopicNames(options);
    this.#version = { timestamp: clock.wallMs(), counter: 0 };
    for (const config of startTopics(options)) this.#set(config);
  }

  /** Reads the file over the topics of the start, as 4.9 does. Throws when it is damaged. */
  load(): void {
    const content = this.#file.load(decodeTopicsFile);
    if (content === undefined) return;
    for (const [name, config] of content.topicConfigTable) {
      const problem = topicProblem(name) ?? (config.topicName === name ? undefined : 'its entry names another topic');
      if (problem !== undefined) this.#logger.warn({ topic: name, problem }, 'entry of topics.json left out');
      else this.#set(config);
    }
    this.#version = content.dataVersion;
  }

  get(topic: string): TopicConfig | undefined {
    return this.#table.get(topic);
  }

  all(): ReadonlyMap<string, TopicConfig> {
    return this.#table;
  }

  get dataVersion(): DataVersion {
    return this.#version;
  }

  isSystemTopic(topic: string): boolean {
    return this.systemTopics.has(topic) || isSystemTopic(topic);
  }

  async put(config: TopicConfig): Promise<void> {
    const problem = topicProblem(config.topicName);
    if (problem !== undefined) throw new KernelError('BAD_TOPIC', problem);
    this.#refuseDeleting(config.topicName);
    const old = this.#table.get(config.topicName);
    this.#logger.info({ topic: config.topicName, old, config }, old === undefined ? 'topic created' : 'topic changed');
    this.#set(config);
    await this.#changed(old === undefined ? config.topicName : undefined);
  }

  #refuseDeleting(topic: string): void {
    if (!this.#deleting.has(topic)) return;
    throw new KernelError('TOPIC_DELETING', `topic ${topic} is being deleted`, { remedy: 'try again in a moment' });
  }

  async delete(topic: string, removeData: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const old = this.#table.get(topic);
    this.#deleting.add(topic);
    try {
      if (old === undefined) this.#logger.warn({ topic }, 'topic to delete does not exist');
      else {
        this.#table.delete(topic);
        this.#count(topic, -1);
        this.#logger.info({ topic, old }, 'topic deleted');
      }
      await Promise.all([old === undefined ? undefined : this.#changed(), removeData()]);
    } finally {
      this.#deleting.delete(topic);
    }
  }

  createOnSend(
    topic: string,
    defaultTopic: string,
    clientQueueNums: number,
    remote: string,
    unit: boolean,
  ): TopicConfig | undefined {
    const existing = this.#table.get(topic);
    if (existing !== undefined) return existing;
    if (topicProblem(topic) !== undefined || this.#deleting.has(topic)) return undefined;
    const template = this.#template(defaultTopic);
    if (template === undefined || (template.perm & Perm.INHERIT) === 0) {
      this.#logger.warn(
        { topic, defaultTopic, client: remote, perm: template?.perm },
        'topic not created: no template',
      );
      return undefined;
    }
    if (!this.#hasRoomFor(topic)) return undefined;
    const queues = Math.max(0, Math.min(clientQueueNums, template.writeQueueNums));
    const config: TopicConfig = {
      topicName: topic,
      readQueueNums: queues,
      writeQueueNums: queues,
      perm: template.perm & ~Perm.INHERIT,
      topicFilterType: template.topicFilterType,
      topicSysFlag: unit ? (isRetryTopic(topic) ? FLAG_UNIT_SUB : FLAG_UNIT) : 0,
      order: false,
    };
    this.#logger.info({ topic, client: remote, queues, template: defaultTopic }, 'topic created by a send');
    this.#set(config);
    this.#changedSoon(topic);
    return config;
  }

  createInternal(topic: string, queueNums: number, perm: number, topicSysFlag: number): TopicConfig {
    const existing = this.#table.get(topic);
    if (existing !== undefined) return existing;
    this.#refuseDeleting(topic);
    const problem = topicProblem(topic);
    if (problem !== undefined) throw new KernelError('BAD_TOPIC', problem);
    if (!this.#hasRoomFor(topic)) {
      const setting = isInternal(topic) ? 'autoCreatedGroupsMax' : 'autoCreatedTopicsMax';
      throw new KernelError('TOO_MANY_TOPICS', `topic ${topic} is not created: the bound ${setting} is reached`, {
        remedy: `delete unused groups and topics or raise ${setting}`,
      });
    }
    const config: TopicConfig = {
      topicName: topic,
      readQueueNums: queueNums,
      writeQueueNums: queueNums,
      perm,
      topicFilterType: 'SINGLE_TAG',
      topicSysFlag,
      order: false,
    };
    this.#logger.info({ topic, queues: queueNums }, 'topic created for a group');
    this.#set(config);
    this.#changedSoon(topic);
    return config;
  }

  unsaved(topic: string): Promise<void> | undefined {
    return this.#unsaved.size === 0 ? undefined : this.#unsaved.get(topic);
  }

  setOrderTopics(topics: ReadonlySet<string>): void {
    let changed = false;
    for (const [name, config] of this.#table) {
      const order = topics.has(name);
      if (config.order === order) continue;
      changed = true;
      this.#set({ ...config, order });
      this.#logger.info({ topic: name, order }, 'order of a topic changed by the name server');
    }
    if (changed) this.#changedSoon();
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Tries again what could not be written, and waits for what is being written. */
  async flush(): Promise<void> {
    if (this.#file.dirty) await this.#save();
    else await this.#file.settled();
  }

  /** 4.9: createTopicInSendMessageMethod takes the right to inherit from TBW102 when auto creation is off now. */
  #template(defaultTopic: string): TopicConfig | undefined {
    const template = this.#table.get(defaultTopic);
    if (template === undefined || defaultTopic !== SystemTopic.AUTO_CREATE || this.#options.autoCreateTopicEnable) {
      return template;
    }
    return { ...template, perm: Perm.READ | Perm.WRITE };
  }

  #hasRoomFor(topic: string): boolean {
    if (this.systemTopics.has(topic)) return true;
    const internal = isInternal(topic);
    const count = internal ? this.#internalCount : this.#ordinaryCount;
    const max = internal
      ? INTERNAL_TOPICS_PER_GROUP * this.#options.autoCreatedGroupsMax
      : this.#options.autoCreatedTopicsMax;
    if (count < max) return true;
    const now = this.#clock.monoMs();
    if (now - this.#fullLoggedMonoMs >= FULL_LOG_INTERVAL_MS) {
      this.#fullLoggedMonoMs = now;
      const setting = internal ? 'autoCreatedGroupsMax' : 'autoCreatedTopicsMax';
      this.#logger.warn({ topic, count, setting, max }, 'topic not created: there are too many');
    }
    return false;
  }

  #set(config: TopicConfig): void {
    if (!this.#table.has(config.topicName)) this.#count(config.topicName, 1);
    this.#table.set(config.topicName, config);
  }

  #count(topic: string, by: number): void {
    if (isInternal(topic)) this.#internalCount += by;
    else if (!this.isSystemTopic(topic)) this.#ordinaryCount += by;
  }

  /** `made`: the topic that the file does not know yet. */
  #changed(made?: string): Promise<void> {
    this.#version = { timestamp: this.#clock.wallMs(), counter: this.#version.counter + 1 };
    const saved = this.#save(made);
    if (made !== undefined) this.#unsaved.set(made, saved);
    for (const listener of this.#listeners) listener();
    return saved;
  }

  /** A failed write is logged by the file and tried again by `flush`. */
  #changedSoon(made?: string): void {
    this.#changed(made).catch(() => undefined);
  }

  #save(made?: string): Promise<void> {
    const before = [...this.#unsaved];
    const saved = this.#file
      .save(() => encodeTopicsFile(this.#table.values(), this.#version))
      .then(() => {
        if (made !== undefined) before.push([made, saved]);
        for (const [topic, write] of before) if (this.#unsaved.get(topic) === write) this.#unsaved.delete(topic);
      });
    return saved;
  }
}
