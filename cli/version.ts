import { existsSync, readFileSync } from 'node:fs';

/** The version of the package that this file is part of. */
export function packageVersion(): string {
  let folder = new URL('./', import.meta.url);
  while (!existsSync(new URL('package.json', folder))) folder = new URL('../', folder);
  const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version: string };
  return version;
}
