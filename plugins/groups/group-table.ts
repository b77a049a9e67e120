import { inject, injectable } from '../../kernel/container.js';
import { KernelError } from '../../kernel/base/errors.js';
import { Clock, Logger, Options } from '../../kernel/tokens.js';
import { defaultSubscriptionGroup, type SubscriptionGroupConfig } from '../../protocol/bodies/subscription-group.js';
import type { DataVersion } from '../../protocol/bodies/topic-config.js';
import { groupProblem, isSystemGroup } from '../../protocol/message/names.js';
import type { ConfigFile } from '../../store/metadata/config-file.js';
import type { SubscriptionGroups } from './contract.js';
import { GroupsFile } from './groups-file.js';
import { decodeGroupsFile, encodeGroupsFile } from './groups-json.js';

/** 4.9: SubscriptionGroupManager#init. */
const startGroups = [
  'TOOLS_CONSUMER',
  'FILTERSRV_CONSUMER',
  'SELF_TEST_C_GROUP',
  'CID_ONS-HTTP-PROXY',
  'CID_ONSAPI_PULL',
  'CID_ONSAPI_PERMISSION',
  'CID_ONSAPI_OWNER',
];
/** A full table would otherwise log each heartbeat and pull. */
const FULL_LOG_INTERVAL_MS = 60_000;

/** 4.9: SubscriptionGroupManager. Entries are replaced, never changed in place. */
@injectable()
export class GroupTable implements SubscriptionGroups {
  readonly #options: Options;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #file: ConfigFile;
  readonly #table = new Map<string, SubscriptionGroupConfig>();
  #version: DataVersion;
  #fullLoggedMonoMs = -Infinity;

  constructor(
    @inject(Options) options: Options,
    @inject(Clock) clock: Clock,
    @inject(Logger) logger: Logger,
    @inject(GroupsFile) file: ConfigFile,
  ) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#file = file;
    this.#version = { timestamp: clock.wallMs(), counter: 0 };
    for (const name of startGroups) this.#table.set(name, defaultSubscriptionGroup(name));
  }

  /** Reads the file over the groups of the start, as 4.9 does. Throws when it is damaged. */
  load(): void {
    const content = this.#file.load(decodeGroupsFile);
    if (content === undefined) return;
    for (const [name, config] of content.subscriptionGroupTable) {
      const problem = groupProblem(name) ?? (config.groupName === name ? undefined : 'its entry names another group');
      if (problem !== undefined)
        this.#logger.warn({ group: name, problem }, 'entry of subscriptionGroup.json left out');
      else this.#table.set(name, config);
    }
    this.#version = content.dataVersion;
  }

  find(group: string): SubscriptionGroupConfig | undefined {
    const existing = this.#table.get(group);
    if (existing !== undefined) return existing;
    if (!this.#options.autoCreateSubscriptionGroup && !isSystemGroup(group)) return undefined;
    if (groupProblem(group) !== undefined || !this.#hasRoomFor(group)) return undefined;
    const config = defaultSubscriptionGroup(group);
    this.#table.set(group, config);
    this.#logger.info({ group }, 'subscription group created on use');
    // A failed write is logged by the file and tried again by `flush`.
    this.#changed().catch(() => undefined);
    return config;
  }

  all(): ReadonlyMap<string, SubscriptionGroupConfig> {
    return this.#table;
  }

  get dataVersion(): DataVersion {
    return this.#version;
  }

  async put(config: SubscriptionGroupConfig): Promise<void> {
    const problem = groupProblem(config.groupName);
    if (problem !== undefined) throw new KernelError('BAD_GROUP', problem);
    const old = this.#table.get(config.groupName);
    this.#table.set(config.groupName, config);
    this.#logger.info({ old, config }, old === undefined ? 'subscription group created' : 'subscription group changed');
    await this.#changed();
  }

  async delete(group: string): Promise<void> {
    const old = this.#table.get(group);
    if (old === undefined) {
      this.#logger.warn({ group }, 'subscription group to delete does not exist');
      return;
    }
    this.#table.delete(group);
    this.#logger.info({ old }, 'subscription group deleted');
    await this.#changed();
  }

  /** Tries again what could not be written, and waits for what is being written. */
  async flush(): Promise<void> {
    if (this.#file.dirty) await this.#save();
    else await this.#file.settled();
  }

  #hasRoomFor(group: string): boolean {
    const max = this.#options.autoCreatedGroupsMax;
    if (this.#table.size - startGroups.length < max) return true;
    const now = this.#clock.monoMs();
    if (now - this.#fullLoggedMonoMs >= FULL_LOG_INTERVAL_MS) {
      this.#fullLoggedMonoMs = now;
      this.#logger.warn({ group, setting: 'autoCreatedGroupsMax', max }, 'group not created: there are too many');
    }
    return false;
  }

  #changed(): Promise<void> {
    this.#version = { timestamp: this.#clock.wallMs(), counter: this.#version.counter + 1 };
    return this.#save();
  }

  #save(): Promise<void> {
    return this.#file.save(() => encodeGroupsFile(this.#table.values(), this.#version));
  }
}
