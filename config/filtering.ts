import type { Options } from './options.js';
import type { Notice } from './sources.js';

type Draft = { -readonly [K in keyof Options]: Options[K] };

/** What the plugins sql92 and bitmap and the options of RocketMQ's files that stand for them say about each other. */
export function deriveFiltering(draft: Draft, isSet: (name: keyof Options) => boolean, notices: Notice[]): void {
  const named = (plugin: string): boolean => draft.plugins.includes(plugin);
  const load = (plugin: string): void => {
    if (!named(plugin)) draft.plugins = [...draft.plugins, plugin];
  };
  if (!isSet('enablePropertyFilter')) draft.enablePropertyFilter = named('sql92');
  if (!isSet('enableCalcFilterBitMap')) draft.enableCalcFilterBitMap = named('bitmap');
  if (!isSet('enableConsumeQueueExt')) draft.enableConsumeQueueExt = named('bitmap');
  notices.push(...halves(draft, isSet));
  // The bits are computed from expressions, also while pulls with such an expression are refused.
  if (draft.enablePropertyFilter || draft.enableCalcFilterBitMap) load('sql92');
  if (draft.enableCalcFilterBitMap) load('bitmap');
  const { bitMapLengthConsumeQueueExt: wished } = draft;
  // 4.9: ConsumerFilterManager overwrites it, too.
  draft.bitMapLengthConsumeQueueExt = bloomBits(draft);
  if (isSet('bitMapLengthConsumeQueueExt') && wished !== draft.bitMapLengthConsumeQueueExt)
    notices.push({
      level: 'info',
      message: `bitMapLengthConsumeQueueExt ${wished} becomes ${draft.bitMapLengthConsumeQueueExt}: expectConsumerNumUseFilter and maxErrorRateOfBloomFilter decide it`,
    });
}

/** One of the settings without what makes it useful: it works as in the original, and that is not much. */
function halves(draft: Draft, isSet: (name: keyof Options) => boolean): Notice[] {
  const { enableCalcFilterBitMap: computed, enablePropertyFilter: filtered, enableConsumeQueueExt: kept } = draft;
  const messages = [
    computed &&
      !filtered &&
      'enableCalcFilterBitMap without enablePropertyFilter: filter bits are computed, and the pulls that would use them are refused',
    computed &&
      !kept &&
      'enableCalcFilterBitMap without enableConsumeQueueExt: there is no place for filter bits, so none are computed',
    filtered &&
      !computed &&
      isSet('enablePropertyFilter') &&
      'enablePropertyFilter without enableCalcFilterBitMap: pulls with an expression read every message',
    !computed && draft.plugins.includes('bitmap') && 'the plugin bitmap does nothing: enableCalcFilterBitMap is false',
  ];
  return messages.filter((message) => message !== false).map((message) => ({ level: 'warn', message }));
}

/** Bits of each message's filter bitmap, in whole bytes (4.9: BloomFilter's m). */
export function bloomBits(options: Pick<Options, 'expectConsumerNumUseFilter' | 'maxErrorRateOfBloomFilter'>): number {
  const errorRate = options.maxErrorRateOfBloomFilter / 100;
  const bits = Math.ceil(options.expectConsumerNumUseFilter * log2(1 / errorRate) * log2(Math.E));
  return 8 * Math.ceil(bits / 8);
}

/** As Java's code has it: rounding decides. */
function log2(value: number): number {
  return Math.log(value) / Math.log(2);
}
