import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../kernel/base/clock.js';
import { RequestCode } from '../../protocol/codes.js';
import { decodeGetMaxOffsetResponse, encodeGetMaxOffset } from '../../protocol/headers/get-max-offset.js';
import { decodeGetMinOffsetResponse, encodeGetMinOffset } from '../../protocol/headers/get-min-offset.js';
import { decodeKVTable } from '../../protocol/bodies/kv-table.js';
import type { RawClient } from './raw-client.js';
import { sendAsk } from './send-pull.js';

const HOUR_MS = 3_600_000;
/** Sends under way at a time. */
const BURST = 10;

/** Small files: some fourteen messages of `fillerBody` in each of the log's, a hundred units in each of a queue's. */
export const smallFiles = {
  mappedFileSizeCommitLog: 16_384,
  mappedFileSizeConsumeQueue: 2000,
  deleteCommitLogFilesInterval: 0,
  deleteConsumeQueueFilesInterval: 0,
} as const;

export const fillerBody = Buffer.alloc(1000, 'x');

/** An hour of the day that is neither now nor soon, and those that are. */
export function hours(): { readonly never: string; readonly now: string } {
  const hour = new Date(systemClock.wallMs()).getHours();
  return { never: String((hour + 12) % 24), now: `${hour};${(hour + 1) % 24}` };
}

export function logFiles(storeDir: string): string[] {
  return readdirSync(join(storeDir, 'commitlog')).sort();
}

/** The first `count` files of the log were last written to before `fileReservedTime`. */
export function makeOld(storeDir: string, count: number, ageHours = 73): void {
  const then = (systemClock.wallMs() - ageHours * HOUR_MS) / 1000;
  for (const name of logFiles(storeDir).slice(0, count)) utimesSync(join(storeDir, 'commitlog', name), then, then);
}

/** Sends `count` messages of a kilobyte to queue 0, in order, some at a time. */
export async function fillTopic(client: RawClient, count: number, topic = 'T'): Promise<void> {
  for (let left = count; left > 0; left -= BURST) {
    const asked = Array.from({ length: Math.min(left, BURST) }, () => {
      const { code, ask } = sendAsk({ topic, body: fillerBody });
      return client.prepare(code, ask);
    });
    client.write(Buffer.concat(asked.map(({ frame }) => frame)));
    for (const { answer } of asked) {
      const { code, remark } = await answer;
      if (code !== 0) throw new Error(`a send to ${topic}: ${code} ${remark}`);
    }
  }
}

export async function queueSpan(client: RawClient, topic = 'T', queueId = 0): Promise<readonly [number, number]> {
  const place = { topic, queueId };
  const min = await client.ask(RequestCode.GET_MIN_OFFSET, { ext: encodeGetMinOffset(place) });
  const max = await client.ask(RequestCode.GET_MAX_OFFSET, { ext: encodeGetMaxOffset(place) });
  return [decodeGetMinOffsetResponse(min.ext).offset, decodeGetMaxOffsetResponse(max.ext).offset];
}

/** A number of the broker's runtime information. */
export async function runtimeNumber(client: RawClient, key: string): Promise<number> {
  const { body } = await client.ask(RequestCode.GET_BROKER_RUNTIME_INFO);
  return Number(decodeKVTable(body).get(key));
}
