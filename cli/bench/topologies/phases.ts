import { systemClock } from '../../../kernel/base/clock.js';
import type { BrokerTarget, Load } from '../load.js';
import { PullLoad } from '../pull-load.js';
import { SendLoad } from '../send-load.js';
import type { LoadSettings } from './settings.js';

/** One part of the script that every broker goes through, in this order. */
export interface Phase {
  readonly name: string;
  /** What it does, for people. */
  readonly text: (settings: LoadSettings) => string;
  /** It reads what the phases before it wrote; without one of those the topic is filled first. */
  readonly reads: boolean;
  readonly open: (settings: LoadSettings, targets: readonly BrokerTarget[]) => Promise<Load>;
}

export const TOPIC = 'kernel-bench';
export const QUEUES = 8;
const PER_PULL = 32;

const flight = ({ connections, window }: LoadSettings): string =>
  `${connections === 1 ? '' : `${connections} × `}${window} in flight`;

export const phases: readonly Phase[] = [
  {
    name: 'produce',
    text: (settings) => `single messages of ${settings.bodyBytes} bytes, ${flight(settings)}`,
    reads: false,
    open: (settings, targets) => sends(settings, targets, 1),
  },
  {
    name: 'batch',
    text: (settings) => `batches of ${settings.perBatch} × ${settings.bodyBytes} bytes, ${flight(settings)}`,
    reads: false,
    open: (settings, targets) => sends(settings, targets, settings.perBatch),
  },
  {
    name: 'consume',
    text: () => `pulls of ${PER_PULL} of what was sent, from offset 0 again and again, one in flight per queue`,
    reads: true,
    open: ({ form, connections, window }, targets) =>
      PullLoad.open(
        { targets, topic: TOPIC, group: TOPIC, form, perPull: PER_PULL, connections, window, again: true },
        systemClock,
      ),
  },
];

/** What fills the topic when a phase that reads comes first. */
export const filling = phases[1]!;

function sends(settings: LoadSettings, targets: readonly BrokerTarget[], perRequest: number): Promise<Load> {
  const { form, bodyBytes, connections, window } = settings;
  return SendLoad.open(
    { targets, topic: TOPIC, form, bodyBytes, perRequest, keys: false, connections, window },
    systemClock,
  );
}
