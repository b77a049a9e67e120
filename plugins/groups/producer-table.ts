import { inject, injectable } from '../../kernel/container.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import type { Connection } from '../remoting/contract.js';
import type { ClientChannel, Producers } from './contract.js';
import { Members, Memberships, type Client } from './members.js';

/** 4.9: ProducerManager. */
@injectable()
export class ProducerTable implements Producers {
  readonly #options: Options;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #groups = new Map<string, Members>();
  readonly #memberships = new Memberships();

  constructor(@inject(Options) options: Options, @inject(Clock) clock: Clock, @inject(Logger) logger: Logger) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
  }

  channels(group: string): ReadonlyMap<string, ClientChannel> | undefined {
    return this.#groups.get(group)?.byClient;
  }

  *all(): Iterable<[group: string, channels: ReadonlyMap<string, ClientChannel>]> {
    for (const [group, members] of this.#groups) yield [group, members.byClient];
  }

  /** How many groups the connection is in. */
  groupsOf(connection: Connection): number {
    return this.#memberships.countOf(connection);
  }

  has(connection: Connection, group: string): boolean {
    return this.#memberships.has(connection, group);
  }

  /** 4.9: registerProducer. */
  heartbeat(client: Client, group: string): void {
    let members = this.#groups.get(group);
    if (members === undefined) {
      members = new Members();
      this.#groups.set(group, members);
    }
    const { joined, replaced } = members.seen(client, this.#clock.monoMs());
    if (!joined) return;
    this.#memberships.add(client.connection, group);
    const about = { group, clientId: client.clientId, client: client.connection.remote };
    this.#logger.info(about, 'producer joined');
    if (replaced !== undefined && !replaced.connection.closed) {
      this.#logger.warn({ ...about, other: replaced.connection.remote }, 'client id is in use on two connections');
    }
  }

  /** 4.9: unregisterProducer. */
  leave(connection: Connection, group: string): void {
    this.#memberships.remove(connection, group);
    this.#remove(group, connection, 'producer left');
  }

  /** 4.9: doChannelCloseEvent. */
  closed(connection: Connection): void {
    for (const group of this.#memberships.take(connection)) {
      this.#remove(group, connection, 'producer gone: its connection closed');
    }
  }

  /** 4.9: scanNotActiveChannel, by the monotonic clock. */
  expire(): void {
    const oldest = this.#clock.monoMs() - this.#options.clientExpiryMs;
    for (const [group, members] of this.#groups) {
      for (const member of [...members.all()]) {
        if (member.lastSeenMonoMs >= oldest) continue;
        this.leave(member.connection, group);
        member.connection.close(`no heartbeat of producer ${member.clientId} for ${this.#options.clientExpiryMs} ms`);
      }
    }
  }

  #remove(group: string, connection: Connection, why: string): void {
    const members = this.#groups.get(group);
    const member = members?.remove(connection);
    if (members === undefined || member === undefined) return;
    this.#logger.info({ group, clientId: member.clientId, client: connection.remote }, why);
    if (members.count === 0) this.#groups.delete(group);
  }
}
