import { Watermark, type Watermarks } from '../../kernel/ring/watermarks.js';
import { RecordWindow } from '../../store/commitlog/record-window.js';
import type { Segments } from '../../store/commitlog/segments.js';

/** Records of the log, read ahead: one for each sequence in which they are read. */
export class Records {
  readonly #window: RecordWindow;

  constructor(
    segments: Segments,
    private readonly watermarks: Watermarks,
  ) {
    this.#window = new RecordWindow(segments);
  }

  /** The whole record, valid until the next call; undefined when there is none. */
  read(physicalOffset: number, size: number): Buffer | undefined {
    if (physicalOffset < this.watermarks.get(Watermark.logMin)) return undefined;
    return this.#window.read(physicalOffset, size, this.watermarks.get(Watermark.appended));
  }
}
