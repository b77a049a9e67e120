import { PushConsumer } from '../../../client/index.js';
import { driver } from './suite.js';

/** A consumer of a group, whoever made it. */
export interface Member {
  readonly received: readonly { readonly queueOffset: number; readonly body: Buffer }[];
  close(): Promise<void>;
}

export interface MemberKind {
  readonly name: string;
  /** As mqadmin prints it. */
  readonly language: string;
  join(namesrv: string, group: string, topic: string): Promise<Member>;
}

export const javaMembers: MemberKind = {
  name: 'a Java consumer',
  language: 'JAVA',
  async join(namesrv, group, topic) {
    const consumer = await (await driver()).pushConsumer({ namesrv, group, topic });
    return { received: consumer.received, close: () => consumer.close() };
  },
};

export const ownMembers: MemberKind = {
  name: 'a consumer of our SDK',
  language: 'OTHER',
  async join(namesrvAddr, group, topic) {
    const received: { queueOffset: number; body: Buffer }[] = [];
    const consumer = new PushConsumer({ namesrvAddr, group, from: 'first', periods: { persistMs: 300 } });
    await consumer.subscribe(topic);
    await consumer.start((batch) => {
      received.push(...batch.map(({ queueOffset, body }) => ({ queueOffset, body })));
      return 'success';
    });
    return { received, close: () => consumer.stop() };
  },
};
