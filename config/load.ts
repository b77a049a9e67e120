import { join } from 'node:path';
import { advertisedAddress, isLoopback, ownHost } from './addresses.js';
import type { OptionValue } from './declare.js';
import { deriveFiltering } from './filtering.js';
import { checkLimits } from './limits.js';
import { type Machine, thisMachine } from './machine.js';
import { declarations, type Options } from './options.js';
import { invalid, parseValue } from './parse.js';
import { choosePorts } from './ports.js';
import { type Assignment, fromEnvironment, fromFile, type Notice } from './sources.js';

/** Where settings come from, strongest first: `assignments` (flags, code), environment, file, defaults. */
export interface Sources {
  readonly assignments?: readonly Assignment[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A Java properties file. */
  readonly file?: string;
  readonly machine?: Machine;
}

export interface Loaded {
  readonly options: Options;
  /** Where each option that somebody set was set; the others are missing. */
  readonly origins: ReadonlyMap<string, string>;
  /** To be logged once. */
  readonly notices: readonly Notice[];
}

interface Setting {
  readonly value: OptionValue;
  readonly where: string;
}

/** Complete, checked options. Throws KernelError (exit code 2) naming option, place and limit. */
export async function loadOptions(sources: Sources = {}): Promise<Loaded> {
  const machine = sources.machine ?? thisMachine;
  const notices: Notice[] = [];
  const settings = readSettings(sources, notices);
  const options = await derive(settings, machine, notices);
  checkLimits(options);
  notices.push(...meaningless(settings));
  return { options, origins: new Map([...settings].map(([name, { where }]) => [name, where])), notices };
}

/** What was set, the strongest source of each option only; every one is parsed, also those that lose, so that no error hides. */
function readSettings(sources: Sources, notices: Notice[]): Map<string, Setting> {
  const file = sources.file === undefined ? undefined : fromFile(sources.file);
  const environment = fromEnvironment(sources.env ?? {});
  notices.push(...(file?.notices ?? []), ...environment.notices);
  const settings = new Map<string, Setting>();
  const weakestFirst = [file?.assignments ?? [], environment.assignments, sources.assignments ?? []].flat();
  for (const { name, raw, where } of weakestFirst)
    settings.set(name, { value: parseValue(declarations.get(name)!, raw, where), where });
  return settings;
}

async function derive(settings: Map<string, Setting>, machine: Machine, notices: Notice[]): Promise<Options> {
  const values: Record<string, OptionValue> = {};
  for (const { name, default: fallback } of declarations.values()) values[name] = settings.get(name)?.value ?? fallback;
  // The index signature is needed to fill it; every name comes from the same declarations as the type.
  const draft = values as { -readonly [K in keyof Options]: Options[K] };
  const isSet = (name: keyof Options): boolean => settings.has(name);

  if (!isSet('role')) draft.role = draft.namesrvAddr === '' ? 'all' : 'broker';
  // 4.9: a name server's own file says listenPort.
  if (draft.role === 'namesrv' && isSet('listenPort') && !isSet('namesrvListenPort'))
    draft.namesrvListenPort = draft.listenPort;
  deriveAddresses(draft, machine, notices);
  Object.assign(draft, await choosePorts(draft, machine));
  deriveIdentity(draft, settings, machine, notices);
  deriveStore(draft, isSet, machine);
  deriveFiltering(draft, isSet, notices);
  return draft;
}

type Draft = { -readonly [K in keyof Options]: Options[K] };

function deriveAddresses(draft: Draft, machine: Machine, notices: Notice[]): void {
  const detected = advertisedAddress(draft.bindAddress, machine);
  if (draft.brokerIP1 === '') draft.brokerIP1 = detected;
  if (draft.brokerIP2 === '') draft.brokerIP2 = detected;
  if (draft.role !== 'namesrv' && isLoopback(draft.brokerIP1))
    notices.push({
      level: 'info',
      message: `brokerIP1 is ${draft.brokerIP1}: only clients on this machine reach the broker; set brokerIP1 for others`,
    });
}

function deriveIdentity(draft: Draft, settings: Map<string, Setting>, machine: Machine, notices: Notice[]): void {
  // 4.9: BrokerConfig#localHostName falls back to the same name.
  if (draft.brokerName === '') draft.brokerName = machine.hostName() || 'DEFAULT_BROKER';
  // 4.9: BrokerStartup sets the id of every master to 0.
  if (draft.brokerRole !== 'SLAVE' && draft.brokerId !== 0) {
    notices.push({ level: 'warn', message: `brokerId ${draft.brokerId} becomes 0: ${draft.brokerRole} is a master` });
    draft.brokerId = 0;
  }
  const written = draft.namesrvAddr.split(';').map((address) => address.trim());
  const addresses = written.filter((address) => address !== '');
  for (const address of addresses) checkAddress(address, settings.get('namesrvAddr')?.where ?? 'namesrvAddr');
  if (draft.role === 'all') {
    const own = `${ownHost(draft.bindAddress)}:${draft.namesrvListenPort}`;
    if (!addresses.includes(own)) addresses.push(own);
  }
  draft.namesrvAddr = addresses.join(';');
}

function checkAddress(address: string, where: string): void {
  const match = /^(\[[0-9a-fA-F:.%\w]+\]|[^\s:[\]]+):(\d{1,5})$/.exec(address);
  const port = Number(match?.[2]);
  if (match === null || port < 1 || port > 65_535)
    throw invalid({ name: 'namesrvAddr' }, where, `"${address}" is not host:port; several are separated by ;`);
}

function deriveStore(draft: Draft, isSet: (name: keyof Options) => boolean, machine: Machine): void {
  if (draft.storePathRootDir === '') draft.storePathRootDir = join(machine.homeDir(), 'store');
  if (draft.storePathCommitLog === '') draft.storePathCommitLog = join(draft.storePathRootDir, 'commitlog');
  if (draft.kvConfigPath === '') draft.kvConfigPath = join(machine.homeDir(), 'namesrv', 'kvConfig.json');
  if (draft.totalMemoryBytes === 0) draft.totalMemoryBytes = machine.totalMemoryBytes();
  if (draft.memory) {
    if (!isSet('mappedFileSizeCommitLog')) draft.mappedFileSizeCommitLog = 32 * 1024 * 1024;
    if (!isSet('mappedFileSizeConsumeQueue')) draft.mappedFileSizeConsumeQueue = 600_000;
    if (!isSet('maxHashSlotNum')) draft.maxHashSlotNum = 16_384;
    if (!isSet('maxIndexNum')) draft.maxIndexNum = 65_536;
  }
  // 4.9: MessageStoreConfig#getMappedFileSizeConsumeQueue rounds up to whole entries.
  draft.mappedFileSizeConsumeQueue = Math.ceil(draft.mappedFileSizeConsumeQueue / 20) * 20;
}

/** One notice per reason, naming every option that was set and changes nothing for that reason. */
function meaningless(settings: ReadonlyMap<string, Setting>): Notice[] {
  const byReason = new Map<string, string[]>();
  for (const [name, { value }] of settings) {
    const { accepted, default: fallback } = declarations.get(name)!;
    if (accepted === undefined || value === fallback) continue;
    byReason.set(accepted, [...(byReason.get(accepted) ?? []), name]);
  }
  return [...byReason].map(([reason, names]) => ({
    level: 'info' as const,
    message: `without effect: ${names.join(', ')}: ${reason}`,
  }));
}
