import { measure, PROPERTIES_BYTES_MAX, TOTAL_SIZE_AT } from './record.js';
import { NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR } from './properties.js';

/** A stored record with another topic or more properties; all else stays as it is, to the byte. */
export interface RecordCopy {
  readonly record: Buffer;
  readonly topic: Buffer;
  readonly properties: Buffer;
  readonly bytes: number;
}

/** With these properties instead of others of their names. Undefined when they have no room. */
export function recordCopy(
  record: Buffer,
  topic: string,
  noted: Readonly<Record<string, number>>,
): RecordCopy | undefined {
  const layout = measure(record, 0);
  const properties = withNoted(record.toString('latin1', layout.propertiesAt), noted);
  const topicBytes = Buffer.from(topic, 'latin1');
  if (properties.length > PROPERTIES_BYTES_MAX) return undefined;
  const bytes = layout.totalBytes + topicBytes.length - layout.topicBytes + properties.length - layout.propertiesBytes;
  return { record, topic: topicBytes, properties: Buffer.from(properties, 'latin1'), bytes };
}

/** Writes it to `at`, where `bytes` bytes are free. */
export function writeRecordCopy({ record, topic, properties, bytes }: RecordCopy, target: Buffer, at: number): void {
  const { topicAt } = measure(record, 0);
  record.copy(target, at, 0, topicAt - 1);
  target.writeInt32BE(bytes, at + TOTAL_SIZE_AT);
  let to = target.writeInt8(topic.length, at + topicAt - 1);
  to += topic.copy(target, to);
  to = target.writeInt16BE(properties.length, to);
  properties.copy(target, to);
}

/** In Latin-1, so that bytes which are no UTF-8 stay as they are. */
function withNoted(text: string, noted: Readonly<Record<string, number>>): string {
  const names = Object.keys(noted);
  if (names.length === 0) return text;
  const kept = text
    .split(PROPERTY_SEPARATOR)
    .filter((entry) => entry !== '' && !names.some((name) => entry.startsWith(name + NAME_VALUE_SEPARATOR)));
  return [...kept, ...names.map((name) => `${name}${NAME_VALUE_SEPARATOR}${noted[name]}`)].join(PROPERTY_SEPARATOR);
}
