import { ExitCode, KernelError } from '../base/errors.js';
import type { Topology } from './contract.js';

/** The place of services that share the kernel's own thread. */
export const MAIN = 'main';
/** The place of a service with a thread of its own. */
export const OWN = 'own';
/** The key that stands for every service without one. */
const OTHERS = '*';

const SERVICE = /^[a-z][a-z0-9-]{0,31}$/;
const PLACE = /^[a-z][a-z0-9-]{0,31}$/i;

/** Checks a topology from outside. Throws KernelError TOPOLOGY_INVALID naming the entry. */
export function checkTopology(topology: Topology): void {
  if (typeof topology !== 'object' || topology === null || Array.isArray(topology))
    throw invalid('it is not an object', 'write { "<service>": "own" | "main" | "<group>" }');
  for (const [service, place] of Object.entries(topology)) {
    if (service !== OTHERS && !isServiceName(service))
      throw invalid(
        `'${service}' cannot be a service`,
        'services are lower-case words, and none is called main or own',
      );
    if (typeof place !== 'string' || !PLACE.test(place))
      throw invalid(
        `service '${service}' has the place ${JSON.stringify(place)}`,
        'use own, main or the name of a group: a letter, then letters, digits and dashes',
      );
    if (place !== OWN && place !== MAIN && (ownPlace(topology, place) ?? place) !== place)
      throw invalid(`the group '${place}' of '${service}' is called like a service outside of it`, 'rename the group');
  }
}

export function isServiceName(name: string): boolean {
  return SERVICE.test(name) && name !== MAIN && name !== OWN;
}

/** The thread of a service: `main`, the service's own name, or its group's. */
export function threadOf(topology: Topology, service: string): string {
  const place = ownPlace(topology, service) ?? ownPlace(topology, OTHERS) ?? OWN;
  return place === OWN ? service : place;
}

/** Plain objects inherit: a service may be called `constructor`. */
function ownPlace(topology: Topology, key: string): string | undefined {
  return Object.hasOwn(topology, key) ? topology[key] : undefined;
}

function invalid(problem: string, remedy: string): KernelError {
  return new KernelError('TOPOLOGY_INVALID', `topology: ${problem}`, { remedy, exitCode: ExitCode.usage });
}
