import { inject, injectable } from '../../kernel/container.js';
import { Logger } from '../../kernel/tokens.js';
import { encodeKVTable } from '../../protocol/bodies/kv-table.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { decodeDeleteKvConfig } from '../../protocol/headers/delete-kv-config.js';
import { decodeGetKvConfig, encodeGetKvConfigResponse } from '../../protocol/headers/get-kv-config.js';
import { decodeGetKvlistByNamespace } from '../../protocol/headers/get-kvlist-by-namespace.js';
import { decodePutKvConfig } from '../../protocol/headers/put-kv-config.js';
import type { Connection, Reply, RequestRouter } from '../remoting/contract.js';
import { KvConfig } from './kv-config.js';
import { NamesrvSettings } from './namesrv-settings.js';

const success: Reply = { code: ResponseCode.SUCCESS };

/** Key-value settings and the name server's own (4.9: DefaultRequestProcessor). */
@injectable()
export class SettingsHandlers {
  readonly #kv: KvConfig;
  readonly #settings: NamesrvSettings;
  readonly #logger: Logger;

  constructor(
    @inject(KvConfig) kv: KvConfig,
    @inject(NamesrvSettings) settings: NamesrvSettings,
    @inject(Logger) logger: Logger,
  ) {
    this.#kv = kv;
    this.#settings = settings;
    this.#logger = logger;
  }

  register(router: RequestRouter): void {
    router.handle(RequestCode.PUT_KV_CONFIG, async (request) => {
      const { namespace, key, value } = decodePutKvConfig(request.ext);
      await this.#kv.put(namespace, key, value);
      return success;
    });
    router.handle(RequestCode.GET_KV_CONFIG, (request) => this.#get(request));
    router.handle(RequestCode.DELETE_KV_CONFIG, async (request) => {
      const { namespace, key } = decodeDeleteKvConfig(request.ext);
      await this.#kv.delete(namespace, key);
      return success;
    });
    router.handle(RequestCode.GET_KVLIST_BY_NAMESPACE, (request) => this.#list(request));
    router.handle(RequestCode.UPDATE_NAMESRV_CONFIG, (request, connection) => this.#change(request, connection));
    router.handle(RequestCode.GET_NAMESRV_CONFIG, () => {
      const lines = [...this.#settings.all()].map(([name, value]) => `${name}=${value}\n`);
      return { code: ResponseCode.SUCCESS, body: Buffer.from(lines.join('')) };
    });
  }

  #get(request: Request): Reply {
    const { namespace, key } = decodeGetKvConfig(request.ext);
    const value = this.#kv.get(namespace, key);
    if (value !== undefined) return { code: ResponseCode.SUCCESS, ext: encodeGetKvConfigResponse({ value }) };
    return { code: ResponseCode.QUERY_NOT_FOUND, remark: `No config item, Namespace: ${namespace} Key: ${key}` };
  }

  #list(request: Request): Reply {
    const { namespace } = decodeGetKvlistByNamespace(request.ext);
    const entries = this.#kv.namespace(namespace);
    if (entries !== undefined) return { code: ResponseCode.SUCCESS, body: encodeKVTable(entries) };
    return { code: ResponseCode.QUERY_NOT_FOUND, remark: `No config item, Namespace: ${namespace}` };
  }

  #change(request: Request, connection: Connection): Reply {
    const wanted = parseProperties(request.body.toString());
    const refusal = this.#settings.change(wanted);
    const names = [...wanted.keys()];
    this.#logger.info({ names, refused: refusal?.name, client: connection.remote }, 'change of settings asked for');
    if (refusal === undefined) return success;
    switch (refusal.reason) {
      case 'path':
        return { code: ResponseCode.NO_PERMISSION, remark: 'Can not update config path' };
      case 'fixed':
        return {
          code: ResponseCode.NO_PERMISSION,
          remark: `${refusal.name} cannot be changed while the name server runs`,
        };
      case 'value':
        return { code: ResponseCode.SYSTEM_ERROR, remark: `${refusal.name} must be true or false` };
    }
  }
}

/** The lines that 4.9's MixAll#properties2String makes: `name=value`; comments and blank lines are left out. */
function parseProperties(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const line of text.split(/\r\n|\r|\n/)) {
    const found = /^\s*([^#!\s=:][^\s=:]*)\s*[=:\s]\s*(.*)$/.exec(line);
    if (found !== null) values.set(found[1] as string, (found[2] as string).trim());
  }
  return values;
}
