import { messageOf, systemCodeOf } from '../../../kernel/base/errors.js';
import { LossyFiles, PowerCut } from '../lossy-files.js';
import type { Loss } from '../lossy-inode.js';
import { SeededRandom } from '../seeded-random.js';
import { BrokerLife, type LifeWishes } from './broker-life.js';
import type { Tamper } from './hand-threads.js';
import { checkFiles, checkRecovered, checkTopics, type Ending } from './life-check.js';
import { LifeClock, WAITS } from './life-clock.js';
import { LifeLedger } from './life-ledger.js';
import { LifeScript } from './life-script.js';

export interface LivesWishes {
  readonly seed: number;
  readonly sync: boolean;
  readonly tamper?: Tamper;
  /** The disk of the first life, and of a kind all later ones: the lossy twin, or one with a planted fault. */
  readonly disk?: (random: SeededRandom) => LossyFiles;
  /** What the broker is told to do, when that is to be another flush mode than the one whose promises are checked. */
  readonly runsSync?: boolean;
  /** The disk fails: a start may give up, and a stop. */
  readonly failing?: boolean;
}

/** Several lives of one disk, and the ledger of what it was given. */
export class Lives {
  readonly random: SeededRandom;
  readonly clock = new LifeClock();
  readonly ledger = new LifeLedger();
  files: LossyFiles;
  /** How the lives since the last whole recovery ended. */
  #endings: Ending[] = [];
  /** When the first of these had ended; a stop, in which time flies, not counted. */
  #endedMonoMs: number | undefined;

  constructor(private readonly wishes: LivesWishes) {
    this.random = new SeededRandom(wishes.seed);
    this.files = wishes.disk?.(this.random) ?? new LossyFiles(this.random);
  }

  /**
   * Starts, checks what was recovered, plays, ends. The power goes off at the twin's chosen operation, wherever that falls; else the
   * life ends as `ending` says. Returns how it ended; throws what the checks find.
   */
  async live(actions: number, ending: Ending, loss: Loss): Promise<Ending> {
    let done: Ending = ending;
    try {
      checkFiles(this.files, this.ledger);
      const life = await this.start();
      await this.#scriptOf(life).play(actions);
      this.#endedMonoMs = this.clock.monoMs();
      if (ending === 'stop') await life.stop();
      if (this.files.isOff) throw new PowerCut('the machine went off');
    } catch (error) {
      if (this.files.isOff) done = 'power cut';
      else if (this.wishes.failing === true && isOfTheDisk(error)) done = 'kill';
      else throw error;
    }
    this.#endings.push(done);
    this.#endedMonoMs ??= this.clock.monoMs();
    this.files = done === 'power cut' ? this.files.restart(loss) : this.files.killed();
    return done;
  }

  /** The machine was treated by hand: so the life before ended, too. */
  note(ending: Ending): void {
    this.#endings.push(ending);
  }

  /** A start whose store was compared with the ledger. */
  async start(): Promise<BrokerLife> {
    const { files, ledger, clock, wishes } = this;
    const life = await BrokerLife.start(this.lifeWishes());
    if (files.isOff) throw new PowerCut('the machine went off');
    checkTopics(life, ledger);
    checkRecovered(life, files, ledger, this.#endings, this.#endedMonoMs ?? clock.monoMs(), wishes.sync);
    this.#endings = [];
    this.#endedMonoMs = undefined;
    return life;
  }

  #scriptOf(life: BrokerLife): LifeScript {
    const { files, clock, random, ledger, wishes } = this;
    return new LifeScript({ life, files, clock, random, ledger, sync: wishes.sync });
  }

  lifeWishes(): LifeWishes {
    const { files, clock, wishes, ledger } = this;
    return {
      files,
      clock,
      sync: wishes.runsSync ?? wishes.sync,
      ...(wishes.tamper === undefined ? {} : { tamper: wishes.tamper }),
      async replace(path, content, keepBackup) {
        const history = ledger.history(path);
        const index = history.contents.push(content) - 1;
        files.replace(path, content, keepBackup);
        history.completed = index;
      },
    };
  }
}

/** An error of the disk, or that the broker waits for it. */
function isOfTheDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = systemCodeOf(error);
  return code === 'EIO' || code === 'ENOSPC' || error.message.includes(WAITS) || isOfTheDisk(error.cause);
}

/** A failure that says how to see it again. */
export function withSeed(seed: number, what: string, error: unknown): Error {
  return new Error(`${messageOf(error)} (seed ${seed}, ${what}: CHAOS_SEED=${seed} repeats it)`, { cause: error });
}
