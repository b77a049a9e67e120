import { messageOf } from '../../kernel/base/errors.js';
import type { AppendStatus, PendingAppend } from '../commitlog/contract.js';

/** A send to a topic that is new: acknowledged when the topic is in its file, too, or nobody could read it after a crash. */
class AfterTopic implements PendingAppend {
  constructor(
    private readonly pending: PendingAppend,
    private readonly topicSaved: Promise<void>,
  ) {}

  get waitStore(): boolean {
    return this.pending.waitStore;
  }

  appended(ring: DataView, start: number): void {
    this.pending.appended(ring, start);
  }

  settle(status: AppendStatus, reason: string): void {
    if (status !== 'stored') return this.pending.settle(status, reason);
    this.topicSaved.then(
      () => this.pending.settle(status, reason),
      (error: unknown) => this.pending.settle('flushFailed', messageOf(error)),
    );
  }
}

export function afterTopic(pending: PendingAppend, topicSaved: Promise<void> | undefined): PendingAppend {
  return topicSaved === undefined ? pending : new AfterTopic(pending, topicSaved);
}
