import type { ConsumerData, SubscriptionData } from '../../protocol/bodies/heartbeat.js';
import type { Connection } from '../remoting/contract.js';
import type { ClientChannel } from './contract.js';

/** Who sends a heartbeat. */
export interface Client {
  readonly clientId: string;
  readonly connection: Connection;
  readonly language: number;
  readonly version: number;
}

const nothingSent: ReadonlyMap<string, SubscriptionData> = new Map();

/** How a member consumes, whatever it subscribes to. */
export type Habits = Pick<ConsumerData, 'consumeType' | 'messageModel' | 'consumeFromWhere'>;

/** One client of one group on one connection. */
export class Member implements ClientChannel {
  readonly clientId: string;
  readonly connection: Connection;
  readonly language: number;
  readonly version: number;
  lastSeenMonoMs: number;
  /** What it subscribed to in its last heartbeat, by topic; empty for producers. */
  sent: ReadonlyMap<string, SubscriptionData> = nothingSent;
  /** Of its last heartbeat; undefined for producers. */
  habits: Habits | undefined;

  constructor(client: Client, nowMonoMs: number) {
    this.clientId = client.clientId;
    this.connection = client.connection;
    this.language = client.language;
    this.version = client.version;
    this.lastSeenMonoMs = nowMonoMs;
  }
}

/**
 * The clients of one group. A client id may stand on two connections: while a reconnect replaces the old socket, or because two
 * processes were given the same id. The newest connection then speaks for the id, and closing one never removes the other.
 */
export class Members {
  readonly #byConnection = new Map<Connection, Member>();
  readonly #byClient = new Map<string, Member>();

  /** By client id: one entry for each, the newest connection's. */
  get byClient(): ReadonlyMap<string, Member> {
    return this.#byClient;
  }

  /** Connections, not client ids. */
  get count(): number {
    return this.#byConnection.size;
  }

  get(connection: Connection): Member | undefined {
    return this.#byConnection.get(connection);
  }

  all(): IterableIterator<Member> {
    return this.#byConnection.values();
  }

  /**
   * Notes a heartbeat. `joined`: the connection is new to the group. `replaced`: the member of the same client id that was
   * reachable before on another connection.
   */
  seen(client: Client, nowMonoMs: number): { member: Member; joined: boolean; replaced: Member | undefined } {
    const known = this.#byConnection.get(client.connection);
    if (known?.clientId === client.clientId) {
      known.lastSeenMonoMs = nowMonoMs;
      return { member: known, joined: false, replaced: undefined };
    }
    if (known !== undefined) this.remove(client.connection);
    const member = new Member(client, nowMonoMs);
    const replaced = this.#byClient.get(client.clientId);
    this.#byConnection.set(client.connection, member);
    this.#byClient.set(client.clientId, member);
    return { member, joined: true, replaced };
  }

  /** Removes what stands on this connection and nothing else (B39: 4.9 removes the client id whoever holds it now). */
  remove(connection: Connection): Member | undefined {
    const member = this.#byConnection.get(connection);
    if (member === undefined) return undefined;
    this.#byConnection.delete(connection);
    if (this.#byClient.get(member.clientId) !== member) return member;
    this.#byClient.delete(member.clientId);
    if (this.#byClient.size === this.#byConnection.size) return member;
    for (const other of this.#byConnection.values()) {
      if (other.clientId === member.clientId) this.#byClient.set(other.clientId, other);
    }
    return member;
  }
}

/** Which groups each connection is in, so that its end touches those and no others. */
export class Memberships {
  readonly #groups = new Map<Connection, Set<string>>();

  add(connection: Connection, group: string): void {
    const groups = this.#groups.get(connection);
    if (groups === undefined) this.#groups.set(connection, new Set([group]));
    else groups.add(group);
  }

  remove(connection: Connection, group: string): void {
    const groups = this.#groups.get(connection);
    if (groups?.delete(group) === true && groups.size === 0) this.#groups.delete(connection);
  }

  /** Takes the connection out and returns the groups it was in. */
  take(connection: Connection): ReadonlySet<string> {
    const groups = this.#groups.get(connection);
    this.#groups.delete(connection);
    return groups ?? nothing;
  }

  countOf(connection: Connection): number {
    return this.#groups.get(connection)?.size ?? 0;
  }

  has(connection: Connection, group: string): boolean {
    return this.#groups.get(connection)?.has(group) === true;
  }
}

const nothing: ReadonlySet<string> = new Set();
