import { ExitCode, KernelError } from '../kernel/base/errors.js';
import { queueFileBytes } from '../store/consumequeue/unit.js';
import { type DumpedGap, type DumpedRecord, type QueueRange, StoreDump } from '../store/dump/dump.js';
import { nodeFiles } from '../store/files/node-files.js';
import type { DumpFlags } from './commands/store.js';
import { printer } from './printer.js';
import { storePlace } from './store-place.js';

const PREVIEW_BYTES = 200;

/** `kernel store dump`: prints messages, or what queues there are. */
export async function dump(dir: string, flags: DumpFlags): Promise<void> {
  checkFlags(flags);
  const place = await storePlace(dir, flags);
  const queueFile = place.sizeOf('mappedFileSizeConsumeQueue');
  const store = new StoreDump({
    files: nodeFiles,
    paths: place.paths,
    segmentBytes: place.sizeOf('mappedFileSizeCommitLog'),
    queueFileBytes: queueFile === undefined ? undefined : queueFileBytes(queueFile),
  });
  try {
    if (flags.at !== undefined) printRecord(store.at(flags.at), flags);
    else if (flags.topic === undefined || flags.queue === undefined) printRanges(store, flags);
    else printQueue(store, store.range(flags.topic, flags.queue), flags);
  } finally {
    store.close();
  }
}

function checkFlags({ topic, queue, from, at }: DumpFlags): void {
  const usage = (problem: string): KernelError => new KernelError('USAGE', problem, { exitCode: ExitCode.usage });
  if (at !== undefined && (topic !== undefined || queue !== undefined || from !== undefined))
    throw usage('--at names one message by itself: leave --topic, --queue and --from out');
  if (queue !== undefined && topic === undefined) throw usage('--queue needs --topic');
  if (from !== undefined && queue === undefined) throw usage('--from needs --topic and --queue');
}

function printRanges(store: StoreDump, { topic, json }: DumpFlags): void {
  let count = 0;
  for (const range of store.ranges(topic)) {
    count += 1;
    const { minOffset, maxOffset, queueId } = range;
    if (json === true) printer.json(range);
    else
      printer.line(
        `${range.topic}  queue ${queueId}  offsets ${minOffset} to ${maxOffset}  ${maxOffset - minOffset} messages`,
      );
  }
  if (count === 0 && topic !== undefined)
    throw new KernelError('TOPIC_UNKNOWN', `the store has no queue of topic ${topic}`, {
      remedy: 'kernel store dump DIR without --topic lists all queues',
    });
  if (count === 0 && json !== true) printer.line('the store has no queues');
}

function printQueue(store: StoreDump, range: QueueRange, flags: DumpFlags): void {
  const from = flags.from ?? range.minOffset;
  if (from >= range.maxOffset && range.maxOffset > range.minOffset)
    printer.error(`queue ${range.topic}/${range.queueId} has the offsets ${range.minOffset} to ${range.maxOffset - 1}`);
  for (const entry of store.messages(range, from, flags.count)) {
    if ('problem' in entry) printGap(entry, flags);
    else printRecord(entry, flags);
  }
}

function printGap(gap: DumpedGap, { json }: DumpFlags): void {
  if (json === true) printer.json(gap);
  else printer.line(`offset ${gap.queueOffset}: ${gap.problem}\n`);
}

function printRecord(record: DumpedRecord, { json, body: how = json === true ? 'full' : 'preview' }: DumpFlags): void {
  if (json === true) return printer.json({ ...fieldsOf(record), ...jsonBody(record, how) });
  const { properties, tags, keys, uniqKey, sysFlagWords } = record;
  const rows: [string, string | undefined][] = [
    [
      '  lies at',
      `physical offset ${record.physicalOffset}, ${record.totalBytes} bytes, ${record.file} at ${record.position}`,
    ],
    ['  stored', `${timeText(record.storeTimestamp)} by ${record.storeHost}`],
    ['  born', `${timeText(record.bornTimestamp)} at ${record.bornHost}`],
    ['  ids', [record.msgId, uniqKey].filter((id) => id !== undefined).join('  ')],
    ['  tags', tags],
    ['  keys', keys],
    ['  sysFlag', `${record.sysFlag}${sysFlagWords.length === 0 ? '' : `: ${sysFlagWords.join(', ')}`}`],
    ['  flag', `${record.flag}, reconsumed ${record.reconsumeTimes} times`],
    ['  properties', [...properties].map(([name, value]) => `${name}=${value}`).join(' ')],
    ['  body', bodyText(record, how)],
  ];
  printer.line(`${record.topic}/${record.queueId}  offset ${record.queueOffset}`);
  for (const [name, value] of rows)
    if (value !== undefined && value !== '') printer.line(`${name.padEnd(13)}${printable(value)}`);
  printer.line('');
}

function fieldsOf({ body, properties, ...fields }: DumpedRecord): object {
  return { ...fields, bodyBytes: body.length, properties: Object.fromEntries(properties) };
}

function timeText(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? `${new Date(ms).toISOString()} (${ms})` : String(ms);
}

/** The body as text; undefined for what is no text, which must not look like one. */
function textOf({ body, bodyProblem }: DumpedRecord): string | undefined {
  const text = body.toString();
  return bodyProblem === undefined && Buffer.from(text).equals(body) ? text : undefined;
}

type BodyForm = NonNullable<DumpFlags['body']>;

function bodyText(record: DumpedRecord, how: BodyForm): string {
  const { body, storedBodyBytes, bodyProblem } = record;
  if (how === 'none') return `${storedBodyBytes} bytes`;
  const shown = how === 'preview' ? body.subarray(0, PREVIEW_BYTES) : body;
  const more = body.length > shown.length ? ` … ${body.length} bytes in all` : '';
  const problem = bodyProblem === undefined ? '' : ` (${bodyProblem})`;
  if (how === 'hex' || textOf(record) === undefined) return `0x${shown.toString('hex')}${more}${problem}`;
  return `${shown.toString()}${more}`;
}

function jsonBody(record: DumpedRecord, how: BodyForm): object {
  if (how === 'none') return {};
  const shown = how === 'preview' ? record.body.subarray(0, PREVIEW_BYTES) : record.body;
  if (how === 'hex') return { bodyHex: shown.toString('hex') };
  return textOf(record) === undefined ? { bodyBase64: shown.toString('base64') } : { body: shown.toString() };
}

/** Control characters of a message must not reach a terminal. */
function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
