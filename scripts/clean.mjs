// Removes what builds and test runs leave behind.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
for (const folder of ['dist', '.build', 'coverage']) rmSync(join(root, folder), { recursive: true, force: true });
