import { inject, injectable } from '../../kernel/container.js';
import { usedRatio, type DiskUsage, type MeasureDisk as MeasureDiskType } from '../../store/files/disk-usage.js';
import { MeasureDisk, StoreState, type StoreDisks } from './contract.js';

@injectable()
export class Disks implements StoreDisks {
  commitLog: DiskUsage | undefined;
  consumeQueue: DiskUsage | undefined;
  root: DiskUsage | undefined;
  #index: DiskUsage | undefined;
  #looking: Promise<void> | undefined;

  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(MeasureDisk) private readonly measureDisk: MeasureDiskType,
  ) {}

  measure(): Promise<void> {
    if (this.state.inMemory) return Promise.resolve();
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  text(): string {
    const [log, queues, index] = [this.commitLog, this.consumeQueue, this.#index].map((usage) =>
      usedRatio(usage).toFixed(2).padStart(5),
    );
    return `CL: ${log} CQ: ${queues} INDEX: ${index}`;
  }

  async #look(): Promise<void> {
    const { commitLog, consumeQueue, index, root } = this.state.paths;
    const looks = [commitLog, consumeQueue, index, root].map((path) => this.measureDisk(path));
    [this.commitLog, this.consumeQueue, this.#index, this.root] = await Promise.all(looks);
  }
}
