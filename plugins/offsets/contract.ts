import type { InjectionToken } from 'tsyringe';

/** Consumer progress (4.9: ConsumerOffsetManager), kept in `config/consumerOffset.json`. */
export interface Offsets {
  /** The committed offset, or -1 when the group never committed for this queue. */
  query(group: string, topic: string, queueId: number): number;
  commit(client: string, group: string, topic: string, queueId: number, offset: number): void;
  /** As `commit`; returns why it was not done instead of logging it. */
  tryCommit(client: string, group: string, topic: string, queueId: number, offset: number): string | undefined;
  /** Committed offsets of one group and topic by queue id. */
  ofTopic(group: string, topic: string): ReadonlyMap<number, number> | undefined;
  topicsOf(group: string): string[];
  groupsOf(topic: string): string[];
  deleteGroup(group: string): void;
}
export const Offsets: InjectionToken<Offsets> = Symbol('Offsets');
