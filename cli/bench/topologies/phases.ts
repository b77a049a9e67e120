import { systemClock } from '../../../kernel/base/clock.js';
import type { BrokerTarget, Load } from '../load.js';
import { leadSecondsOf } from '../delay-load.js';
import { openDelays, openTail } from '../open-tail.js';
import { addressOf } from '../queue-ends.js';
import { PullLoad } from '../pull-load.js';
import type { PullShape } from '../pull-frames.js';
import type { MessageShape } from '../send-frames.js';
import { SendLoad, type SendSettings } from '../send-load.js';
import { STAMP_BYTES } from '../tail-load.js';
import { TransactionLoad } from '../transaction-load.js';
import type { LoadSettings } from './settings.js';

/** One part of the script that every broker goes through, in this order. */
export interface Phase {
  readonly name: string;
  /** What it does, for people. */
  readonly text: (settings: LoadSettings) => string;
  /** What its latency is, for people. */
  readonly latency: string;
  /** How long it takes until first results can come, beside the warm-up. */
  readonly leadSeconds?: (settings: LoadSettings) => number;
  /** It reads what the phases before it wrote; without one of those the topic is filled first. */
  readonly reads: boolean;
  /** Its rate is given: only latency and cost tell topologies apart. */
  readonly paced: boolean;
  readonly open: (settings: LoadSettings, targets: readonly BrokerTarget[]) => Promise<Load>;
}

export const TOPIC = 'kernel-bench';
export const QUEUES = 8;
const PER_PULL = 32;
/** Pulls of the tail are held so long. */
const HELD_MS = 15_000;

const flight = ({ connections, window }: LoadSettings): string =>
  `${connections === 1 ? '' : `${connections} × `}${window} in flight`;

export const phases: readonly Phase[] = [
  {
    name: 'produce',
    text: (settings) => `single messages of ${settings.bodyBytes} bytes, ${flight(settings)}`,
    latency: 'latency of one request',
    reads: false,
    paced: false,
    open: (settings, targets) => sends(settings, targets, 1),
  },
  {
    name: 'batch',
    text: (settings) => `batches of ${settings.perBatch} × ${settings.bodyBytes} bytes, ${flight(settings)}`,
    latency: 'latency of one request',
    reads: false,
    paced: false,
    open: (settings, targets) => sends(settings, targets, settings.perBatch),
  },
  {
    name: 'consume',
    text: () => `pulls of ${PER_PULL} of what was sent, from offset 0 again and again, one in flight per queue`,
    latency: 'latency of one request',
    reads: true,
    paced: false,
    open: ({ form, connections, window }, targets) =>
      PullLoad.open({ targets, shape: pullShape(form, 0), connections, window, again: true }, systemClock),
  },
  {
    name: 'latency',
    text: ({ perSecond }) =>
      `${perSecond.toLocaleString('en-US')} messages/s, each from the time at which it was meant to leave to its consumer`,
    latency: 'latency from send to consumer',
    reads: false,
    paced: true,
    open: latency,
  },
  {
    name: 'transactions',
    text: (settings) => `half messages of ${settings.bodyBytes} bytes and their commits, ${flight(settings)}`,
    latency: 'latency from half to commit',
    reads: false,
    paced: false,
    open: (settings, targets) => TransactionLoad.open(sendSettings(settings, targets, 1), systemClock),
  },
  {
    name: 'delays',
    text: ({ perSecond, firstLevelMs }) =>
      `${perSecond.toLocaleString('en-US')} messages/s of delay level 1 (${firstLevelMs / 1000} s), each from the time at which it was due to its store time`,
    latency: 'lateness of delivery',
    leadSeconds: delayLeadSeconds,
    reads: false,
    paced: true,
    open: delays,
  },
];

function delayLeadSeconds({ firstLevelMs }: LoadSettings): number {
  return leadSecondsOf({ aheadMs: firstLevelMs });
}

/** What fills the topic when a phase that reads comes first. */
export const filling = phases[1]!;

function sends(settings: LoadSettings, targets: readonly BrokerTarget[], perRequest: number): Promise<Load> {
  return SendLoad.open(sendSettings(settings, targets, perRequest), systemClock);
}

function sendSettings(settings: LoadSettings, targets: readonly BrokerTarget[], perRequest: number): SendSettings {
  const { connections, window } = settings;
  return { targets, shape: messageShape(settings, perRequest), connections, window };
}

function latency(settings: LoadSettings, targets: readonly BrokerTarget[]): Promise<Load> {
  const { form, perSecond } = settings;
  const pull = pullShape(form, HELD_MS);
  return openTail(addressOf(targets[0]!), { ...stamped(settings, targets), pull, perSecond });
}

function delays(settings: LoadSettings, targets: readonly BrokerTarget[]): Promise<Load> {
  const { form, perSecond, firstLevelMs } = settings;
  const pull = pullShape(form, HELD_MS);
  const delay = { level: 1, aheadMs: firstLevelMs };
  return openDelays(addressOf(targets[0]!), { ...stamped(settings, targets), pull, perSecond, delay });
}

/** With bodies that have room for what the load writes into them. */
function stamped(settings: LoadSettings, targets: readonly BrokerTarget[]): SendSettings {
  return sendSettings({ ...settings, bodyBytes: Math.max(STAMP_BYTES, settings.bodyBytes) }, targets, 1);
}

function messageShape({ form, bodyBytes }: LoadSettings, perRequest: number): MessageShape {
  return { form, bodyBytes, perRequest, keys: false, tags: [], properties: 0, oneWay: false };
}

function pullShape(form: LoadSettings['form'], suspendMs: number): PullShape {
  return { form, group: TOPIC, perPull: PER_PULL, filter: { type: 'TAG', expression: '*' }, suspendMs };
}
