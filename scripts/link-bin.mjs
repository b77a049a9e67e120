// In a checkout, puts the package's own commands into node_modules/.bin, where npx looks first. npm does that for dependencies
// only. Does nothing in an installed package, and never fails an installation.
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { allBins, readManifest, root } from './bins.mjs';

const isCheckout = existsSync(join(root, 'tsconfig.json')) && existsSync(join(root, 'node_modules'));

if (isCheckout) {
  const folder = join(root, 'node_modules', '.bin');
  for (const [name, file] of Object.entries(allBins(readManifest().bin))) {
    try {
      link(join(folder, name), join(root, file));
    } catch (error) {
      process.stderr.write(`could not link ${name}: ${error.message}; run node ${file} instead\n`);
    }
  }
}

function link(path, target) {
  chmodSync(target, 0o755);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  symlinkSync(relative(dirname(path), target), path);
}
