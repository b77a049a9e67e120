import type { InjectionToken } from 'tsyringe';
import type { DataVersion, TopicConfig } from '../../protocol/bodies/topic-config.js';

/** The broker's topic table (4.9: TopicConfigManager), kept in `config/topics.json`. */
export interface Topics {
  get(topic: string): TopicConfig | undefined;
  all(): ReadonlyMap<string, TopicConfig>;
  readonly dataVersion: DataVersion;
  /** Creates or replaces; persisted before this resolves. */
  put(config: TopicConfig): Promise<void>;
  /** `removeData` runs after the topic is gone from the table; until it resolves the topic cannot be made again. */
  delete(topic: string, removeData?: () => Promise<void>): Promise<void>;
  /** 4.9: createTopicInSendMessageMethod. Undefined when it may not be created. The table has it at once; the file follows. */
  createOnSend(
    topic: string,
    defaultTopic: string,
    clientQueueNums: number,
    remote: string,
    unit: boolean,
  ): TopicConfig | undefined;
  /**
   * The write that brings a topic into the file, while it is not there yet; rejects when it fails. A message is acknowledged only
   * after it: without its topic nobody could read it after a crash (4.9 writes the file before it stores the message).
   */
  unsaved(topic: string): Promise<void> | undefined;
  /** 4.9: createTopicInSendMessageBackMethod, for retry and dead-letter topics. */
  createInternal(topic: string, queueNums: number, perm: number, topicSysFlag: number): TopicConfig;
  /** 4.9: updateOrderTopicConfig. The named topics are ordered, all others are not; unknown names change nothing. */
  setOrderTopics(topics: ReadonlySet<string>): void;
  /** Names that can be neither created nor deleted from outside: 4.9's constants and this broker's own. */
  isSystemTopic(topic: string): boolean;
  /** 4.9: TopicValidator#getSystemTopicSet. */
  readonly systemTopics: ReadonlySet<string>;
  /** Fires after each change (registration at the name servers follows it). */
  onChange(listener: () => void): void;
}
export const Topics: InjectionToken<Topics> = Symbol('Topics');
