// prepack: lists the short names in package.json. postpack, or postpublish when the package is published, whose metadata npm
// reads only after postpack: takes them out again.
import { writeFileSync } from 'node:fs';
import { allBins, manifestPath, readManifest, shortNames } from './bins.mjs';

const step = process.env.npm_lifecycle_event;
const manifest = readManifest();
if (step === 'prepack') {
  manifest.bin = allBins(manifest.bin);
} else if (step === 'postpublish' || process.env.npm_command !== 'publish') {
  for (const name of Object.keys(shortNames)) delete manifest.bin[name];
}
writeFileSync(manifestPath, `${JSON.stringify(manifest, null, 2)}\n`);
