import { injectable } from '../../kernel/container.js';

/** Waits between deletions, which a stop ends. */
@injectable()
export class Pause {
  ended = false;
  readonly #waiting = new Map<NodeJS.Timeout, () => void>();

  for(ms: number): Promise<void> {
    if (this.ended || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(timer);
        resolve();
      }, ms);
      this.#waiting.set(timer, resolve);
    });
  }

  end(): void {
    this.ended = true;
    for (const [timer, resolve] of this.#waiting) {
      clearTimeout(timer);
      resolve();
    }
    this.#waiting.clear();
  }
}
