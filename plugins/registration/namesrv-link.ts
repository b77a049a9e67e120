import { KernelError, messageOf } from '../../kernel/base/errors.js';
import type { Logger } from '../../kernel/base/logger.js';
import { decodeKVTable } from '../../protocol/bodies/kv-table.js';
import { decodeDataVersion, encodeDataVersion, type DataVersion } from '../../protocol/bodies/topic-config.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { ExtFields } from '../../protocol/command.js';
import { decodeQueryDataVersionResponse, encodeQueryDataVersion } from '../../protocol/headers/query-data-version.js';
import { decodeRegisterBrokerResponse } from '../../protocol/headers/register-broker.js';
import { encodeUnregisterBroker } from '../../protocol/headers/unregister-broker.js';
import type { NamesrvAddress } from './addresses.js';
import type { RegistrationResult } from './contract.js';
import { NamesrvClient, type NamesrvAnswer } from './namesrv-client.js';

/** What is sent to every name server, made once for all of them. */
export interface Announcement {
  readonly identity: {
    readonly brokerName: string;
    readonly brokerAddr: string;
    readonly clusterName: string;
    readonly brokerId: number;
  };
  readonly ext: ExtFields;
  readonly body: Buffer;
  readonly dataVersion: DataVersion;
}

export interface LinkOptions {
  /** As configured, for logs. */
  readonly name: string;
  /** Undefined while the own name server does not listen yet. */
  readonly address: () => NamesrvAddress | undefined;
  readonly announcement: () => Announcement;
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  /** Longest time between a failure and the next try. */
  readonly periodMs: number;
  readonly logger: Logger;
}

/** 4.9: BrokerOuterAPI#unregisterBroker. */
const UNREGISTER_TIMEOUT_MS = 3000;
const FIRST_RETRY_MS = 1000;
/** The own name server opens in the same boot: a matter of milliseconds. */
const NOT_OPEN_RETRY_MS = 50;

/** One name server: registrations go one after the other, at most one waits, and none holds up another name server. */
export class NamesrvLink {
  readonly #options: LinkOptions;
  readonly #client: NamesrvClient;
  #running: Promise<unknown> = Promise.resolve();
  #waiting: Promise<RegistrationResult> | undefined;
  #waitingForce = false;
  #state: 'untried' | 'registered' | 'failing' = 'untried';
  #problem = '';
  #master: { readonly masterAddr?: string; readonly haServerAddr?: string } = {};
  /** Order configuration that came with the last answer; undefined when there was none. */
  #order: ReadonlyMap<string, string> | undefined;
  #registered = false;
  #failures = 0;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#client = new NamesrvClient(options.connectTimeoutMs, () => this.#lost());
  }

  /** How the last try went; undefined before the first. */
  get result(): RegistrationResult | undefined {
    return this.#state === 'untried' ? undefined : this.#outcome();
  }

  get order(): ReadonlyMap<string, string> | undefined {
    return this.#order;
  }

  /** Never rejects. Without `force` the name server is asked first whether it has this data version already. */
  register(force: boolean): Promise<RegistrationResult> {
    this.#waitingForce ||= force;
    if (this.#waiting !== undefined) return this.#waiting;
    const mine = this.#running.then(() => {
      this.#waiting = undefined;
      const forced = this.#waitingForce;
      this.#waitingForce = false;
      return this.#attempt(forced);
    });
    this.#waiting = mine;
    this.#running = mine;
    return mine;
  }

  /** Takes the broker out of the name server's tables and ends the connection. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    // A name server that does not answer is not waited for.
    if (!this.#registered) this.#client.close();
    await this.#running;
    const address = this.#options.address();
    if (this.#registered && this.#client.connected && address !== undefined) {
      const { identity } = this.#options.announcement();
      const { name, logger } = this.#options;
      try {
        const ext = encodeUnregisterBroker(identity);
        await this.#client.call(address, RequestCode.UNREGISTER_BROKER, ext, undefined, UNREGISTER_TIMEOUT_MS);
        logger.info({ namesrv: name }, 'broker unregistered');
      } catch (error) {
        logger.warn({ namesrv: name, problem: messageOf(error) }, 'broker not unregistered');
      }
    }
    this.#client.close();
  }

  async #attempt(force: boolean): Promise<RegistrationResult> {
    clearTimeout(this.#retry);
    const address = this.#options.address();
    if (this.#closed || address === undefined) {
      this.#retryIn(NOT_OPEN_RETRY_MS);
      this.#problem = this.#closed ? 'this broker stops' : 'it does not listen yet';
      return this.#outcome();
    }
    try {
      // Over a new connection the registration itself must go: the name server ties the broker to the connection it came on.
      const send = force || !this.#registered || !this.#client.connected || (await this.#isChanged(address));
      if (send) await this.#send(address);
      this.#succeeded();
    } catch (error) {
      this.#failed(messageOf(error));
      this.#retryIn(Math.min(this.#options.periodMs, FIRST_RETRY_MS * 2 ** Math.min(this.#failures++, 16)));
    }
    return this.#outcome();
  }

  async #send(address: NamesrvAddress): Promise<void> {
    const { ext, body } = this.#options.announcement();
    const answer = await this.#call(address, RequestCode.REGISTER_BROKER, ext, body);
    this.#master = decodeRegisterBrokerResponse(answer.ext);
    this.#order = answer.body.length === 0 ? undefined : decodeKVTable(answer.body);
    this.#registered = true;
  }

  /** 4.9: BrokerOuterAPI#needRegister. */
  async #isChanged(address: NamesrvAddress): Promise<boolean> {
    const { identity, dataVersion } = this.#options.announcement();
    const ext = encodeQueryDataVersion(identity);
    const answer = await this.#call(address, RequestCode.QUERY_DATA_VERSION, ext, encodeDataVersion(dataVersion));
    if (decodeQueryDataVersionResponse(answer.ext).changed) return true;
    if (answer.body.length === 0) return false;
    const known = decodeDataVersion(answer.body);
    return known.timestamp !== dataVersion.timestamp || known.counter !== dataVersion.counter;
  }

  async #call(address: NamesrvAddress, code: number, ext: ExtFields, body: Buffer): Promise<NamesrvAnswer> {
    const answer = await this.#client.call(address, code, ext, body, this.#options.timeoutMs);
    if (answer.code === ResponseCode.SUCCESS) return answer;
    throw new KernelError('NAMESRV_REFUSED', `request ${code} was answered ${answer.code}: ${answer.remark ?? ''}`);
  }

  #outcome(): RegistrationResult {
    const { masterAddr, haServerAddr } = this.#master;
    const ok = this.#state === 'registered';
    return { namesrv: this.#options.name, ok, problem: ok ? '' : this.#problem, masterAddr, haServerAddr };
  }

  #succeeded(): void {
    const { name, logger } = this.#options;
    if (this.#state !== 'registered') logger.info({ namesrv: name }, 'registered at the name server');
    this.#state = 'registered';
    this.#failures = 0;
  }

  /** One line per change of state, however long it lasts. */
  #failed(problem: string): void {
    const { name, logger } = this.#options;
    if (this.#state !== 'failing')
      logger.warn({ namesrv: name, problem }, 'not registered at the name server; trying on');
    this.#state = 'failing';
    this.#problem = problem;
  }

  #lost(): void {
    this.#registered = false;
    if (this.#closed) return;
    if (this.#state === 'registered') this.#failed('the connection was lost');
    this.#retryIn(Math.min(this.#options.periodMs, FIRST_RETRY_MS));
  }

  #retryIn(ms: number): void {
    clearTimeout(this.#retry);
    if (this.#closed) return;
    this.#retry = setTimeout(() => void this.register(true), ms).unref();
  }
}
