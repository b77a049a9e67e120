import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { buildJava } from './java-build.js';
import { Daemon } from './daemon.js';

export { requireJava } from './java-build.js';

const outputBytesMax = 256 * 1024 * 1024;

/** JDK 17 closes what RocketMQ's mapped files reach into (buffer cleaners); harmless on 11. */
const openModules = [
  '--add-opens=java.base/java.nio=ALL-UNNAMED',
  '--add-opens=java.base/sun.nio.ch=ALL-UNNAMED',
  '--add-opens=java.base/java.lang=ALL-UNNAMED',
  '--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED',
  '--add-exports=java.base/sun.nio.ch=ALL-UNNAMED',
];

/** Short runs profit from a quick start more than from the best code. */
export const quickStart: readonly string[] = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx512m'];

/** The classpath of our Java programs and RocketMQ 4.9.7; fetches and compiles what is missing. */
export async function javaClasspath(): Promise<string> {
  return (await buildJava()).classpath;
}

/**
 * The arguments of `java` up to the main class. `folder` becomes the program's user.home (client logs, local offsets);
 * warnings go to `<folder>/warnings.log`.
 */
export async function javaArgs(folder: string, flags: readonly string[] = quickStart): Promise<string[]> {
  const { classpath, home } = await buildJava();
  return [
    ...openModules,
    ...flags,
    '-Dfile.encoding=UTF-8',
    `-Duser.home=${folder}`,
    `-Drocketmq.home.dir=${home}`,
    `-Dmqk.log=${join(folder, 'warnings.log')}`,
    `-Dlogback.configurationFile=${join(home, 'conf', 'logback_tools.xml')}`,
    '-Drocketmq.client.logUseSlf4j=true',
    '-cp',
    classpath,
  ];
}

export interface JavaResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a main class to its end. A run longer than `timeoutMs` is killed and fails. */
export async function runJava(
  main: string,
  args: readonly string[],
  options: { input?: string; timeoutMs: number; env?: Record<string, string>; flags?: readonly string[] },
): Promise<JavaResult> {
  const folder = mkdtempSync(join(tmpdir(), 'mqkernel-java-'));
  try {
    const before = await javaArgs(folder, options.flags);
    return await new Promise<JavaResult>((resolve, reject) => {
      const child = spawn('java', [...before, main, ...args], {
        env: { ...process.env, ...options.env },
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
      });
      const stdout = collect(child.stdout, () => child.kill('SIGKILL'));
      const stderr = collect(child.stderr, () => child.kill('SIGKILL'));
      child.once('error', reject);
      child.once('close', (code, signal) => {
        if (signal === null) return resolve({ code, stdout: stdout(), stderr: stderr() });
        reject(new Error(`java ${main} was ended by ${signal} (${options.timeoutMs} ms allowed)\n${stderr()}`));
      });
      child.stdin.on('error', () => undefined); // a program may end without reading its input
      child.stdin.end(options.input ?? '');
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function collect(stream: NodeJS.ReadableStream, tooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > outputBytesMax) return tooMuch();
    chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

/** A failure that the Java side reports: the exception's simple name and RocketMQ's response code where it has one. */
export class JavaError extends Error {
  override readonly name = 'JavaError';
  constructor(
    readonly type: string,
    readonly text: string,
    readonly code: number | undefined,
  ) {
    super(`${type}${code === undefined ? '' : ` (code ${code})`}: ${text}`);
  }
}

interface Line {
  id?: number;
  result?: unknown;
  error?: { type: string; message: string; code?: number };
  event?: string;
  handle?: string;
  data?: unknown;
}

type Listener = (event: string, handle: string, data: unknown) => void;

/** A long-lived Java program on mqk.Lines: numbered calls, answers in any order, events in between. */
export class JavaProgram {
  private readonly waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  private nextId = 1;
  private ready = false;
  private onEvent: Listener = () => undefined;

  private constructor(
    private readonly daemon: Daemon,
    private readonly folder: string,
  ) {
    const { stdout, stdin } = daemon.child;
    if (stdout === null || stdin === null) throw new Error('a Java program of JSON lines needs both pipes');
    createInterface({ input: stdout, crlfDelay: Infinity }).on('line', (line) => this.take(line));
    stdin.on('error', () => undefined); // the exit event tells it better
    daemon.child.once('exit', () => this.failAll());
  }

  static async start(main: string, args: readonly string[], options: StartOptions = {}): Promise<JavaProgram> {
    const folder = mkdtempSync(join(tmpdir(), 'mqkernel-java-'));
    const all = [...(await javaArgs(folder)), ...(options.properties ?? []), main, ...args];
    const logs: [string, string] = [join(folder, 'stderr.log'), join(folder, 'warnings.log')];
    const daemon = new Daemon(`java ${main}`, 'java', all, logs, { stdio: 'lines', env: options.env ?? {} });
    const program = new JavaProgram(daemon, folder);
    try {
      await daemon.reach(() => program.ready, 'is ready for calls', 30_000);
    } catch (error) {
      await program.stop();
      throw error;
    }
    return program;
  }

  listen(listener: Listener): void {
    this.onEvent = listener;
  }

  /** The answer to one call, not checked beyond being JSON: the caller knows what its own Java code returns. */
  call(op: string, args: Record<string, unknown>, timeoutMs = 60_000): Promise<unknown> {
    if (this.daemon.end !== undefined) return Promise.reject(this.gone());
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error(`${this.daemon.label} did not answer ${op} in ${timeoutMs} ms\n${this.logTail()}`));
      }, timeoutMs);
      const done = (): void => {
        clearTimeout(timer);
        this.waiting.delete(id);
      };
      this.waiting.set(id, {
        resolve: (value) => (done(), resolve(value)),
        reject: (error) => (done(), reject(error)),
      });
      this.daemon.child.stdin?.write(`${JSON.stringify({ id, op, args })}\n`);
    });
  }

  get pid(): number {
    return this.daemon.child.pid ?? 0;
  }

  logTail(): string {
    return this.daemon.logTail();
  }

  /** Ends the program and removes its folder. */
  async stop(): Promise<void> {
    if (this.daemon.end === undefined) await this.daemon.kill9();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private take(text: string): void {
    const line = JSON.parse(text) as Line;
    if (line.event === 'ready') {
      this.ready = true;
    } else if (line.event !== undefined) {
      this.onEvent(line.event, line.handle ?? '', line.data);
    } else if (line.id !== undefined) {
      const call = this.waiting.get(line.id);
      if (line.error === undefined) call?.resolve(line.result);
      else call?.reject(new JavaError(line.error.type, line.error.message, line.error.code));
    }
  }

  private gone(): Error {
    return new Error(`${this.daemon.label} ${this.daemon.end ?? 'is ending'}\n${this.logTail()}`);
  }

  private failAll(): void {
    for (const call of [...this.waiting.values()]) call.reject(this.gone());
  }
}

export interface StartOptions {
  readonly env?: Record<string, string>;
  /** `-Dname=value` arguments. */
  readonly properties?: readonly string[];
}

/** Starts a main class that serves JSON lines with mqk.Lines. */
export function startJava(main: string, args: readonly string[], options: StartOptions = {}): Promise<JavaProgram> {
  return JavaProgram.start(main, args, options);
}
