import { crc32 } from '../../protocol/message/crc.js';
import { OffsetSet, type BlockContent } from './offset-set.js';

/** Which messages of the timer topic's queue are not delivered yet. */
export interface TimerProgress {
  /** Queue offset behind the last one that was looked at: all from here on are pending. */
  readonly end: number;
  /** Those below it. */
  readonly pending: OffsetSet;
}

interface File {
  readonly end: number;
  readonly pending: readonly (readonly [index: number, form: 'bits' | 'list', base64: string])[];
  /** Of the two above as JSON. */
  readonly crc: number;
}

/** The file config/timerProgress.json. */
export function encodeTimerProgress({ end, pending }: TimerProgress): string {
  const content = {
    end,
    pending: pending.contents().map(({ index, form, bytes }) => [index, form, bytes.toString('base64')]),
  };
  const text = JSON.stringify(content);
  return `${text.slice(0, -1)},"crc":${checksum(text)}}`;
}

/** Throws when it is not whole. */
export function decodeTimerProgress(content: Buffer): TimerProgress {
  const { end, pending: blocks, crc } = JSON.parse(content.toString()) as File;
  if (crc !== checksum(JSON.stringify({ end, pending: blocks }))) throw new Error('its checksum does not fit');
  const pending = new OffsetSet();
  for (const [index, form, base64] of blocks)
    pending.put({ index, form, bytes: Buffer.from(base64, 'base64') } satisfies BlockContent);
  return { end, pending };
}

function checksum(text: string): number {
  return crc32(Buffer.from(text));
}
