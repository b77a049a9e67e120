import { messageOf } from '../../kernel/base/errors.js';
import { inject, injectable } from '../../kernel/container.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { SubscriptionGroups } from '../groups/contract.js';

interface Reader {
  readonly consumerGroup: string;
  readonly topic: string;
  readonly queueId: number;
}

/**
 * disableConsumeIfConsumerReadSlowly: a group that reads more than consumerFallbehindThreshold behind the log's end is switched off, as if
 * by an administrator, who has to switch it on again (4.9: BrokerController#protectBroker).
 */
@injectable()
export class SlowGroups {
  /** By group and queue, how far behind the last pull was; only those that were too far. */
  readonly #tooFar = new Map<string, { readonly reader: Reader; readonly behindBytes: number }>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(
    @inject(Options) private readonly options: Options,
    @inject(SubscriptionGroups) private readonly groups: SubscriptionGroups,
    @inject(Logger) private readonly logger: Logger,
  ) {}

  start(): void {
    const { disableConsumeIfConsumerReadSlowly, slowGroupCheckIntervalMs } = this.options;
    if (!disableConsumeIfConsumerReadSlowly) return;
    this.#sweep = setInterval(() => void this.#switchOff(), slowGroupCheckIntervalMs);
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  /** What a pull found, and how far the last queue unit it looked at lies behind the log's end. */
  saw({ consumerGroup, topic, queueId }: Reader, behindBytes: number): void {
    if (this.#sweep === undefined) return;
    const key = `${queueId}@${topic}@${consumerGroup}`;
    if (behindBytes > this.options.consumerFallbehindThreshold)
      this.#tooFar.set(key, { reader: { consumerGroup, topic, queueId }, behindBytes });
    else this.#tooFar.delete(key);
  }

  async #switchOff(): Promise<void> {
    const found = [...this.#tooFar.values()];
    this.#tooFar.clear();
    for (const { reader, behindBytes } of found) {
      const config = this.groups.all().get(reader.consumerGroup);
      if (config?.consumeEnable !== true) continue;
      const what = { ...reader, behindBytes, thresholdBytes: this.options.consumerFallbehindThreshold };
      try {
        await this.groups.put({ ...config, consumeEnable: false });
        this.logger.warn(
          what,
          'a group reads too far behind and is switched off; updateSubGroup -s true allows it again',
        );
      } catch (error) {
        this.logger.error(
          { ...what, problem: messageOf(error) },
          'a group that reads too far behind is not switched off',
        );
      }
    }
  }
}
