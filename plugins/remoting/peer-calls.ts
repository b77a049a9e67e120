import { KernelError } from '../../kernel/base/errors.js';
import type { Request } from '../../protocol/command.js';
import type { PeerResponse } from './contract.js';

/** Calls of one connection that its peer has not answered yet; more than any sane peer leaves open. */
const OPEN_CALLS_MAX = 1024;

interface OpenCall {
  readonly resolve: (response: PeerResponse) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Requests of ours to a client, waiting for its answers. */
export class PeerCalls {
  readonly #open = new Map<number, OpenCall>();
  #opaque = 0;

  nextOpaque(): number {
    return (this.#opaque = (this.#opaque + 1) & 0x7fffffff);
  }

  wait(opaque: number, peer: string, timeoutMs: number): Promise<PeerResponse> {
    if (this.#open.size >= OPEN_CALLS_MAX)
      return Promise.reject(new KernelError('PEER_BUSY', `${peer} has ${OPEN_CALLS_MAX} unanswered requests`));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#open.delete(opaque);
        reject(new KernelError('PEER_TIMEOUT', `${peer} did not answer within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#open.set(opaque, { resolve, reject, timer });
    });
  }

  /** An answer that nobody waits for is dropped: it came too late or was never asked for. */
  answer(response: Request): void {
    const call = this.#open.get(response.opaque);
    if (call === undefined) return;
    this.#open.delete(response.opaque);
    clearTimeout(call.timer);
    const { code, remark, ext } = response;
    call.resolve({ code, remark, ext, body: Buffer.from(response.body) });
  }

  abandon(peer: string): void {
    for (const call of this.#open.values()) {
      clearTimeout(call.timer);
      call.reject(new KernelError('PEER_GONE', `${peer} closed the connection`));
    }
    this.#open.clear();
  }
}
