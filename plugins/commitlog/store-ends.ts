import { inject, injectable } from '../../kernel/container.js';
import { Mailbox } from '../../kernel/ring/mailbox.js';
import { allocateRing, type RingMemory } from '../../kernel/ring/slots.js';
import type { StoreEndCalls, StoreEndMemory } from '../../kernel/ring/store-end.js';
import { callsOf, ThreadHost } from '../../kernel/threads/contract.js';
import type { RunningService } from '../../kernel/threads/service.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { messageOf } from '../../kernel/base/errors.js';
import { StoreState, storingServices, type StoreEnds, type StoringService } from './contract.js';

const SLOTS = 4096;
const RING_BYTES_MIN = 4 * 1024 * 1024;
/** Room for two records with the largest body, so that one always fits. */
const RECORD_ROOM_BYTES = 256 * 1024;

/** The hand-off rings of services that store messages themselves, and what those services ask of the kernel's thread. */
@injectable()
export class ServiceEnds implements StoreEnds {
  /** For the writer's boot: rings, and the bells of their producers. */
  readonly rings: ReadonlyMap<StoringService, RingMemory>;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(ThreadHost) private readonly threads: ThreadHost,
    @inject(Options) options: Options,
    @inject(Logger) private readonly logger: Logger,
  ) {
    const bytes = Math.max(RING_BYTES_MIN, 2 * (options.maxMessageSize + RECORD_ROOM_BYTES));
    this.rings = new Map(storingServices.map((service) => [service, allocateRing(bytes, SLOTS)]));
  }

  memoryOf(service: StoringService): StoreEndMemory {
    return {
      ring: this.rings.get(service)!,
      writer: this.threads.bellOf('commitlog'),
      queueTable: this.state.queueTable.memory,
      mailbox: Mailbox.allocate(this.state.wake.address),
    };
  }

  serve(service: RunningService, memory: StoreEndMemory, onMail?: () => Promise<void>): void {
    const mailbox = new Mailbox(memory.mailbox);
    const answer = async (): Promise<void> => {
      try {
        await this.#addRows(service);
        await onMail?.();
      } catch (error) {
        // Its thread died: the next life asks again.
        this.logger.warn(
          { service: service.name, error: messageOf(error) },
          'what a service asked for was not answered',
        );
      }
    };
    this.state.wake.add(
      () => {
        if (mailbox.take()) void answer();
      },
      () => !mailbox.isEmpty,
    );
  }

  async #addRows(service: RunningService): Promise<void> {
    const wanted = await callsOf<StoreEndCalls>(service).takeWantedRows();
    for (const { topic, queueId } of wanted) this.state.queueTable.register(topic, queueId);
    if (wanted.length > 0) service.bell.ring();
  }
}
