import { inject, injectable } from '../../kernel/container.js';
import { Clock } from '../../kernel/tokens.js';
import type { Decided, Decision } from './contract.js';
import type { Ending } from './ending.js';

/** Answers to questions that were on their way when a transaction ended come within this time. */
const KEPT_MS = 10 * 60_000;
const ORIGINS_PER_CHUNK = 16_384;
const PER_WORD = 16;
/** 16 MiB, 67 million transactions; then the chunk that is there for longest goes. */
const CHUNKS_MAX = 4096;
const codes = { committed: 1, rolledBack: 2 } as const;
const decisions = [undefined, 'committed', 'rolledBack'] as const;

/** Two bits for each of so many origins. */
interface Chunk {
  readonly words: Uint32Array;
  lastMonoMs: number;
  /** Highest queue offset of an op record that tells of one of these. */
  lastOp: number;
}

@injectable()
export class Decisions implements Decided {
  /** From the request that ends a transaction until its op record is stored. */
  readonly #underWay = new Map<number, Ending>();
  readonly #chunks = new Map<number, Chunk>();

  constructor(@inject(Clock) private readonly clock: Clock) {}

  get underWay(): number {
    return this.#underWay.size;
  }

  of(origin: number): Decision | undefined {
    return this.#underWay.get(origin)?.decision ?? this.settled(origin);
  }

  /** Who is about to end it, if somebody is. */
  ending(origin: number): Ending | undefined {
    return this.#underWay.get(origin);
  }

  settled(origin: number): Decision | undefined {
    const place = origin % ORIGINS_PER_CHUNK;
    const words = this.#chunks.get((origin - place) / ORIGINS_PER_CHUNK)?.words;
    return words === undefined ? undefined : decisions[(words[Math.floor(place / PER_WORD)] >>> shift(place)) & 3];
  }

  begin(ending: Ending): void {
    this.#underWay.set(ending.origin, ending);
  }

  /** It did not come about: the half is as open as before. */
  takeBack({ origin }: Ending): void {
    this.#underWay.delete(origin);
  }

  /** Its op record is stored, with this queue offset. */
  settle({ origin, decision }: Ending, opOffset: number): void {
    this.#underWay.delete(origin);
    const place = origin % ORIGINS_PER_CHUNK;
    const chunk = this.#chunkOf((origin - place) / ORIGINS_PER_CHUNK);
    chunk.words[Math.floor(place / PER_WORD)] |= codes[decision] << shift(place);
    chunk.lastMonoMs = this.clock.monoMs();
    chunk.lastOp = Math.max(chunk.lastOp, opOffset);
  }

  opsRead(opOffset: number): void {
    const oldest = this.clock.monoMs() - KEPT_MS;
    for (const [number, { lastOp, lastMonoMs }] of this.#chunks)
      if (lastOp < opOffset && lastMonoMs < oldest) this.#chunks.delete(number);
  }

  #chunkOf(number: number): Chunk {
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      for (const oldest of this.#chunks.keys()) {
        if (this.#chunks.size < CHUNKS_MAX) break;
        this.#chunks.delete(oldest);
      }
      chunk = { words: new Uint32Array(ORIGINS_PER_CHUNK / PER_WORD), lastMonoMs: 0, lastOp: -1 };
      this.#chunks.set(number, chunk);
    }
    return chunk;
  }
}

function shift(place: number): number {
  return (place % PER_WORD) * 2;
}
