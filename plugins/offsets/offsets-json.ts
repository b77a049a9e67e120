import { longText } from '../../protocol/fields.js';
import { readJson } from '../../protocol/bodies/json.js';
import { asObject, table, tableOf, textKey, wholeKey, wholeValue } from '../../protocol/bodies/shape.js';

/** Offsets by queue id, by group, by topic. */
export type OffsetTree = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<number, number>>>;

/** An own file may be larger than a frame; only a broken one is larger than this. */
const ownFileLimits = { bytesMax: 512 * 1024 * 1024, membersMax: 50_000_000 };
/** Offsets written before others get their turn: well under a millisecond of work. */
const OFFSETS_PER_TURN = 2000;

interface Form {
  readonly start: string;
  readonly before: string;
  readonly after: string;
  readonly end: string;
}

/** As fastjson writes a map with number keys, which are bare; its pretty form does not break lines inside such a map. */
const forms = {
  pretty: { start: '{\n\t"offsetTable":{', before: '\n\t\t', after: '\n\t\t}', end: '\n\t}\n}' },
  compact: { start: '{"offsetTable":{', before: '', after: '}', end: '}}' },
} as const satisfies Record<string, Form>;

/**
 * `config/consumerOffset.json` (pretty) or the body of GET_ALL_CONSUMER_OFFSET (compact), made in slices: `pause` lets others
 * run. Offsets committed meanwhile may or may not be in it; each is one that was committed.
 */
export async function encodeOffsets(
  tree: OffsetTree,
  style: keyof typeof forms,
  pause: () => Promise<void>,
): Promise<string> {
  const form = forms[style];
  const entries: string[] = [];
  let turn = 0;
  for (const [topic, groups] of tree) {
    for (const [group, offsets] of groups) {
      const parts: string[] = [];
      for (const [queueId, offset] of offsets) parts.push(`${queueId}:${longText(offset)}`);
      entries.push(`${form.before}${JSON.stringify(`${topic}@${group}`)}:{${parts.join(',')}${form.after}`);
      turn += parts.length;
      if (turn < OFFSETS_PER_TURN) continue;
      turn = 0;
      await pause();
    }
  }
  if (entries.length === 0) return style === 'pretty' ? '{\n\t"offsetTable":{}\n}' : '{"offsetTable":{}}';
  return `${form.start}${entries.join(',')}${form.end}`;
}

/** Offsets by queue id, by `topic@group`. Throws when the content is no such table. */
export function decodeOffsetsFile(content: Buffer): Map<string, Map<number, number>> {
  const object = asObject(readJson(content, ownFileLimits), 'consumerOffset.json');
  return table(object, 'offsetTable', textKey, (value, what) => tableOf(value, what, wholeKey, wholeValue));
}
