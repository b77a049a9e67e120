import { inject, injectable } from '../../kernel/container.js';
import { Options } from '../../kernel/tokens.js';

/** Set by a request these would let it write any file (CVE-2023-37582); 4.9.8 refuses the last two as well. */
const pathNames: ReadonlySet<string> = new Set(['kvConfigPath', 'configStorePath', 'configBlackList', 'rocketmqHome']);

/** What a change of settings was answered with; undefined when it took effect. */
export type Refusal = { readonly reason: 'path' | 'fixed' | 'value'; readonly name: string } | undefined;

/**
 * The settings of a name server under the names that mqadmin shows (4.9: NamesrvConfig, NettyServerConfig). Those that may change
 * while it runs hold until it ends: no file is written that a request could name.
 */
@injectable()
export class NamesrvSettings {
  readonly #options: Options;
  #orderMessageEnable: boolean;

  constructor(@inject(Options) options: Options) {
    this.#options = options;
    this.#orderMessageEnable = options.orderMessageEnable;
  }

  /** Whether routes carry the order configuration of their topic. */
  get orderMessageEnable(): boolean {
    return this.#orderMessageEnable;
  }

  /** By name, as text. */
  all(): Map<string, string> {
    const { namesrvListenPort: listenPort, rocketmqHome, kvConfigPath, configStorePath } = this.#options;
    const { productEnvName, clusterTest, serverChannelMaxIdleTimeSeconds, serverSocketBacklog } = this.#options;
    const values = {
      rocketmqHome,
      kvConfigPath,
      configStorePath,
      productEnvName,
      clusterTest,
      orderMessageEnable: this.#orderMessageEnable,
      listenPort,
      serverChannelMaxIdleTimeSeconds,
      serverSocketBacklog,
    };
    return new Map(Object.entries(values).map(([name, value]) => [name, String(value)]));
  }

  /** All or nothing. Names that no name server has are ignored, as in 4.9. */
  change(wanted: ReadonlyMap<string, string>): Refusal {
    const current = this.all();
    for (const name of wanted.keys()) if (pathNames.has(name)) return { reason: 'path', name };
    for (const [name, value] of wanted) {
      if (name === 'orderMessageEnable') {
        if (value !== 'true' && value !== 'false') return { reason: 'value', name };
      } else if (current.has(name) && current.get(name) !== value) {
        return { reason: 'fixed', name };
      }
    }
    const order = wanted.get('orderMessageEnable');
    if (order !== undefined) this.#orderMessageEnable = order === 'true';
    return undefined;
  }
}
