import { FilterError, type CompiledFilter } from './contract.js';

type Outcome = CompiledFilter | FilterError;

/** Outcomes of compiling, the least recently used going first; bounded in number and in characters of expressions. */
export class CompileCache {
  private readonly outcomes = new Map<string, Outcome>();
  private characters = 0;
  /** Asked for last: consumers of the same mind ask for the same again and again. */
  private newest: { readonly type: string; readonly expression: string; readonly outcome: Outcome } | undefined;

  constructor(
    private readonly entriesMax = 512,
    private readonly charactersMax = 1024 * 1024,
  ) {}

  get size(): number {
    return this.outcomes.size;
  }

  /** The kept outcome, or that of `compile`; a FilterError is kept and thrown again. */
  get(type: string, expression: string, compile: () => CompiledFilter): CompiledFilter {
    const { newest } = this;
    const outcome =
      newest !== undefined && newest.expression === expression && newest.type === type
        ? newest.outcome
        : this.find(type, expression, compile);
    if (outcome instanceof FilterError) throw outcome;
    return outcome;
  }

  private find(type: string, expression: string, compile: () => CompiledFilter): Outcome {
    const key = `${type}\0${expression}`;
    const outcome = this.outcomes.get(key) ?? attempt(compile);
    this.forget(key);
    this.keep(key, outcome);
    this.newest = this.outcomes.has(key) ? { type, expression, outcome } : undefined;
    return outcome;
  }

  private keep(key: string, outcome: Outcome): void {
    this.outcomes.set(key, outcome);
    this.characters += key.length;
    for (const oldest of this.outcomes.keys()) {
      if (this.outcomes.size <= this.entriesMax && this.characters <= this.charactersMax) return;
      this.forget(oldest);
    }
  }

  private forget(key: string): void {
    if (this.outcomes.delete(key)) this.characters -= key.length;
  }
}

function attempt(compile: () => CompiledFilter): Outcome {
  try {
    return compile();
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
}
