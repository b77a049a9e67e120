import { inject, injectable } from '../../kernel/container.js';
import { Fault, Watermark } from '../../kernel/ring/watermarks.js';
import { AppendGate, StoreState, type StoreStatus } from './contract.js';

@injectable()
export class Status implements StoreStatus {
  constructor(
    @inject(StoreState) private readonly state: StoreState,
    @inject(AppendGate) private readonly gate: AppendGate,
  ) {}

  get appended(): number {
    return this.state.watermarks.get(Watermark.appended);
  }

  get flushed(): number {
    return this.state.watermarks.get(Watermark.flushed);
  }

  get dispatched(): number {
    return this.state.watermarks.get(Watermark.dispatched);
  }

  get readOnlyReason(): string | undefined {
    return this.gate.readOnlyReason;
  }

  get failed(): boolean {
    const { watermarks } = this.state;
    return watermarks.raised(Fault.append) || watermarks.raised(Fault.flush);
  }
}
