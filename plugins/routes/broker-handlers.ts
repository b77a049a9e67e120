import { inject, injectable } from '../../kernel/container.js';
import { KernelError, messageOf } from '../../kernel/base/errors.js';
import { Logger } from '../../kernel/tokens.js';
import { encodeKVTable } from '../../protocol/bodies/kv-table.js';
import { decodeRegisterBrokerBody } from '../../protocol/bodies/register-broker.js';
import {
  decodeDataVersion,
  decodeTopicConfigSerializeWrapper,
  encodeDataVersion,
} from '../../protocol/bodies/topic-config.js';
import { RequestCode, ResponseCode, Version } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { FieldError } from '../../protocol/fields.js';
import { decodeQueryDataVersion, encodeQueryDataVersionResponse } from '../../protocol/headers/query-data-version.js';
import {
  decodeRegisterBroker,
  encodeRegisterBrokerResponse,
  type RegisterBrokerRequestHeader,
} from '../../protocol/headers/register-broker.js';
import { decodeUnregisterBroker } from '../../protocol/headers/unregister-broker.js';
import { crc32 } from '../../protocol/message/crc.js';
import type { Connection, Reply, RequestRouter } from '../remoting/contract.js';
import { KvConfig, ORDER_TOPIC_CONFIG } from './kv-config.js';
import { RouteTable, sameVersion, type Registration } from './route-table.js';

/** Longer names of clusters, brokers and addresses are refused: they are kept and sent out with every route. */
const NAME_LENGTH_MAX = 512;
const success: Reply = { code: ResponseCode.SUCCESS };

type Content = Pick<Registration, 'topics' | 'dataVersion' | 'filterServers'>;

/** What brokers ask of a name server (4.9: DefaultRequestProcessor). */
@injectable()
export class BrokerHandlers {
  readonly #routes: RouteTable;
  readonly #kv: KvConfig;
  readonly #logger: Logger;

  constructor(@inject(RouteTable) routes: RouteTable, @inject(KvConfig) kv: KvConfig, @inject(Logger) logger: Logger) {
    this.#routes = routes;
    this.#kv = kv;
    this.#logger = logger;
  }

  register(router: RequestRouter): void {
    router.handle(RequestCode.REGISTER_BROKER, (request, connection) => this.#register(request, connection));
    router.handle(RequestCode.UNREGISTER_BROKER, (request) => this.#unregister(request));
    router.handle(RequestCode.QUERY_DATA_VERSION, (request) => this.#queryDataVersion(request));
  }

  #register(request: Request, connection: Connection): Reply {
    const header = decodeRegisterBroker(request.ext);
    checkNames(header);
    if (header.bodyCrc32 !== 0 && crc32(request.body) !== header.bodyCrc32) {
      const about = { broker: header.brokerName, address: header.brokerAddr, client: connection.remote };
      this.#logger.warn(about, 'registration refused: its body has another checksum');
      return { code: ResponseCode.SYSTEM_ERROR, remark: 'crc32 not match' };
    }
    if (connection.closed) return success;
    const { clusterName, brokerName, brokerAddr, brokerId, haServerAddr } = header;
    const answer = this.#routes.register(
      { clusterName, brokerName, brokerAddr, brokerId, haServerAddr, ...content(request, header.compressed) },
      connection,
    );
    const order = this.#kv.namespace(ORDER_TOPIC_CONFIG);
    const ext = encodeRegisterBrokerResponse(answer);
    return order === undefined
      ? { code: ResponseCode.SUCCESS, ext }
      : { code: ResponseCode.SUCCESS, ext, body: encodeKVTable(order) };
  }

  #unregister(request: Request): Reply {
    const { clusterName, brokerName, brokerAddr, brokerId } = decodeUnregisterBroker(request.ext);
    this.#routes.unregister(clusterName, brokerName, brokerAddr, brokerId);
    return success;
  }

  /** 4.9: queryBrokerTopicConfig: spares a broker the whole table when nothing changed, and counts as a sign of life then. */
  #queryDataVersion(request: Request): Reply {
    const { brokerAddr } = decodeQueryDataVersion(request.ext);
    const asked = decodeDataVersion(request.body);
    const known = this.#routes.versionOf(brokerAddr);
    const changed = known === undefined || !sameVersion(known, asked);
    if (!changed) this.#routes.touch(brokerAddr);
    const ext = encodeQueryDataVersionResponse({ changed });
    return known === undefined
      ? { code: ResponseCode.SUCCESS, ext }
      : { code: ResponseCode.SUCCESS, ext, body: encodeDataVersion(known) };
  }
}

/** Brokers before 3.0.11 send the bare topic table and know nothing of filter servers. */
function content(request: Request, compressed: boolean): Content {
  const old = request.version < Version.V3_0_11;
  const { body } = request;
  if (body.length === 0) {
    return { topics: new Map(), dataVersion: { timestamp: 0, counter: 0 }, filterServers: old ? undefined : [] };
  }
  try {
    if (old) {
      const wrapper = decodeTopicConfigSerializeWrapper(body);
      return { topics: wrapper.topicConfigTable, dataVersion: wrapper.dataVersion, filterServers: undefined };
    }
    const { topicConfigSerializeWrapper: wrapper, filterServerList } = decodeRegisterBrokerBody(body, compressed);
    return { topics: wrapper.topicConfigTable, dataVersion: wrapper.dataVersion, filterServers: filterServerList };
  } catch (error) {
    throw new KernelError('BAD_REGISTRATION', `Failed to decode RegisterBrokerBody: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function checkNames(header: RegisterBrokerRequestHeader): void {
  for (const field of ['clusterName', 'brokerName', 'brokerAddr'] as const) {
    const name = header[field];
    if (name === '' || name.length > NAME_LENGTH_MAX) {
      throw new FieldError(field, `must have 1 to ${NAME_LENGTH_MAX} characters`);
    }
  }
  if (header.brokerId < 0) throw new FieldError('brokerId', 'must not be negative');
}
