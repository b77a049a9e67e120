import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads a table of this folder; tests run from the root of the repository. */
export function golden<T>(name: string): T {
  return JSON.parse(readFileSync(join(process.cwd(), 'test', 'golden', name), 'utf8')) as T;
}

/** One frame as it went over the wire, with its length word. */
export interface CapturedFrame {
  /** Who sent it to whom. */
  readonly way: string;
  readonly kind: 'request' | 'answer';
  /** Request code, also of the request that an answer belongs to. */
  readonly code: number;
  /** Only of answers: the response code. */
  readonly answered?: number;
  readonly serialize: 'JSON' | 'ROCKETMQ';
  readonly hex: string;
}
