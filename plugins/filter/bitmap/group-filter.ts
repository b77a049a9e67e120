import type { CompiledFilter, EntryExtension } from '../contract.js';

/** Which filter of which group on which topic. */
export interface FilterIdentity {
  readonly topic: string;
  readonly group: string;
  readonly expressionType: string;
  readonly expression: string;
}

/** A group's filter on a topic and since when bits are computed for it (4.9: ConsumerFilterData). */
export class GroupFilter {
  readonly topic: string;
  readonly group: string;
  readonly expressionType: string;
  readonly expression: string;
  /** Messages with a later store time were dispatched with it; infinite while that is not known, and when it was replaced. */
  bornMs = Infinity;
  /** When the group lost its last member; 0 while it has some. */
  deadMs = 0;
  #base: CompiledFilter | undefined;
  #narrowed: CompiledFilter | undefined;

  constructor(
    { topic, group, expressionType, expression }: FilterIdentity,
    /** Version of the client's subscription. */
    public clientVersion: number,
    /** Bits that a message has that passes. */
    readonly positions: readonly number[],
    /** Bits of a whole bitmap. */
    private readonly bits: number,
  ) {
    this.topic = topic;
    this.group = group;
    this.expressionType = expressionType;
    this.expression = expression;
  }

  get isDead(): boolean {
    return this.deadMs > 0;
  }

  /** Whether it is what a group subscribes to. */
  isOf({ expressionType, subString }: { readonly expressionType: string; readonly subString: string }): boolean {
    return expressionType === this.expressionType && subString === this.expression;
  }

  /** `filter`, which is this one compiled, asking the bits first; made once. */
  narrow(filter: CompiledFilter): CompiledFilter {
    if (this.#narrowed !== undefined && this.#base === filter) return this.#narrowed;
    const { matchesTagsCode } = filter;
    this.#base = filter;
    this.#narrowed =
      matchesTagsCode === undefined
        ? { ...filter, matchesTagsCode: (_, extension) => this.#mayPass(extension) }
        : {
            ...filter,
            matchesTagsCode: (code, extension) => this.#mayPass(extension) && matchesTagsCode(code, extension),
          };
    return this.#narrowed;
  }

  /** False when it does not pass for sure (4.9: ExpressionMessageFilter#isMatchedByConsumeQueue). */
  #mayPass(extension: EntryExtension | undefined): boolean {
    if (extension === undefined || extension.bits !== this.bits) return true;
    for (const position of this.positions)
      if (!extension.has(position)) return !(extension.storeTimestamp > this.bornMs);
    return true;
  }
}
