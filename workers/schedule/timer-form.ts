import { SystemTopic } from '../../protocol/message/names.js';
import { PropertyName } from '../../protocol/message/properties.js';
import { PROPERTIES_BYTES_MAX, type RecordLayout } from '../../protocol/message/record.js';
import type { Form, Outgoing } from './source.js';

/** A message that waits, stored again to wait at the log's end: its old file is to be deleted. */
export class TimerForm implements Form {
  readonly #due: Buffer;

  /** `dueMs`: of a message that does not say so itself. */
  constructor(dueMs?: number) {
    this.#due = Buffer.from(dueMs === undefined ? '' : `\u0002${PropertyName.TIMER_OUT_MS}\u0001${dueMs}`);
  }

  fill(record: Buffer, { propertiesAt, propertiesBytes }: RecordLayout, out: Outgoing): string | undefined {
    const bytes = propertiesBytes + this.#due.length;
    if (bytes > PROPERTIES_BYTES_MAX) return `${bytes} bytes of properties are too many to store it again`;
    out.topic = SystemTopic.TIMER;
    out.queueId = 0;
    out.properties = record;
    out.propertiesStart = propertiesAt;
    out.propertiesEnd = propertiesAt + propertiesBytes;
    if (this.#due.length === 0) return undefined;
    // Behind the others: of two of a name the last counts.
    out.properties = Buffer.concat([record.subarray(propertiesAt, propertiesAt + propertiesBytes), this.#due]);
    out.propertiesStart = 0;
    out.propertiesEnd = bytes;
    return undefined;
  }
}
