import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const oldestJdk = 11;
const mavenTimeoutMs = 300_000;
const javacTimeoutMs = 120_000;

/** What the Java programs of the suite start with; the folders lie in a cache outside the sources. */
export interface JavaBuild {
  /** Value of `-cp`: our classes, then every jar of pom.xml. */
  readonly classpath: string;
  /** A ROCKETMQ_HOME with the logging configuration that broker, name server and mqadmin insist on. */
  readonly home: string;
}

/** The checkout this code was compiled from, wherever the compiled files lie in it. */
export function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('the interop suite must run inside the checkout: no package.json above it');
    folder = parent;
  }
  return folder;
}

/** Throws one line saying what is missing when there is no JDK (11 or later) or no Maven on the PATH. */
export function requireJava(): void {
  const problem = jdkProblem() ?? (works('mvn', '-v') === undefined ? 'mvn was not found' : undefined);
  if (problem !== undefined) {
    throw new Error(`the interop suite needs a JDK (${oldestJdk} or later) and Maven on the PATH: ${problem}`);
  }
}

function jdkProblem(): string | undefined {
  const version = works('javac', '-version');
  if (version === undefined || works('java', '-version') === undefined) return 'java and javac were not found';
  const major = Number(/javac (\d+)/.exec(version)?.[1] ?? '0');
  return major >= oldestJdk ? undefined : `javac is "${version.trim()}"`;
}

function works(command: string, arg: string): string | undefined {
  const result = spawnSync(command, [arg], { encoding: 'utf8' });
  return result.status === 0 ? result.stdout + result.stderr : undefined;
}

let built: Promise<JavaBuild> | undefined;

/** Fetches the jars and compiles our sources, once for each state of pom.xml and sources. */
export function buildJava(): Promise<JavaBuild> {
  built ??= build();
  return built;
}

async function build(): Promise<JavaBuild> {
  requireJava();
  const root = projectRoot();
  const interop = join(root, 'test', 'interop');
  const cache = join(root, 'node_modules', '.cache', 'mqkernel-interop');
  const pom = join(interop, 'pom.xml');
  const logback = join(interop, 'java', 'logback.xml');
  const sources = javaSources(join(interop, 'java', 'src'));

  const lib = join(cache, `lib-${hashOf([pom])}`);
  await once(lib, (folder) => copyJars(pom, folder));
  const own = join(cache, `own-${hashOf([pom, logback, ...sources])}`);
  await once(own, async (folder) => {
    await compile(sources, lib, join(folder, 'classes'));
    writeHome(logback, join(folder, 'home'));
  });
  return { classpath: `${join(own, 'classes')}:${join(lib, '*')}`, home: join(own, 'home') };
}

/** Maven tells its errors on stdout, javac on stderr: a failure shows both. */
async function run(command: string, args: string[], timeout: number): Promise<void> {
  try {
    await execute(command, args, { timeout });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    const said = `${stdout ?? ''}${stderr ?? ''}`.trim();
    throw new Error(`${command} failed for the interop suite: ${said || String(error)}`, { cause: error });
  }
}

function javaSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.java'))
    .sort()
    .map((name) => join(folder, name));
}

function hashOf(files: string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

/** A folder that exists is complete: it is made under another name and renamed; of two makers at once one wins. */
async function once(folder: string, make: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  const making = `${folder}.${process.pid}`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  try {
    await make(making);
    if (!existsSync(folder)) renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

async function copyJars(pom: string, folder: string): Promise<void> {
  const args = ['-B', '-q', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
  await run('mvn', [...args, '-DincludeScope=runtime'], mavenTimeoutMs);
  if (!readdirSync(folder).some((name) => name.startsWith('rocketmq-client-'))) {
    throw new Error(`Maven ended well but copied no rocketmq-client jar to ${folder}`);
  }
}

async function compile(sources: string[], lib: string, classes: string): Promise<void> {
  const args = ['--release', String(oldestJdk), '-encoding', 'UTF-8', '-cp', join(lib, '*'), '-d', classes, ...sources];
  await run('javac', args, javacTimeoutMs);
}

function writeHome(logback: string, home: string): void {
  mkdirSync(join(home, 'conf'), { recursive: true });
  for (const program of ['broker', 'namesrv', 'tools']) {
    copyFileSync(logback, join(home, 'conf', `logback_${program}.xml`));
  }
}
