import averagely from '../averagely/index.js';
import circle from '../circle/index.js';
import consistentHash from '../consistent-hash/index.js';
import { defineAllocation, type AllocationRule } from '../contract.js';
import { machineRoomNearbyRule } from './rule.js';

const innerRules = [averagely, circle, consistentHash];

/** The beginning of a broker name or client id, and the room of those that have it. */
interface Place {
  readonly prefix: string;
  readonly room: string;
}

/**
 * `machine-room-nearby:east=broker-a,10.1.;west=broker-b,10.2.`: broker names and client ids (which begin with the client's
 * address) that begin so are in that room; the longest beginning counts. In front of the rooms may stand the rule that shares
 * out within a room: `machine-room-nearby:circle;east=…`.
 */
export default defineAllocation('machine-room-nearby', (options) => {
  const parts = options.split(';').map((part) => part.trim());
  const inner = parts[0]!.includes('=') ? averagely.create('') : innerRule(parts.shift()!);
  if (parts.length === 0) throw new RangeError('write the machine rooms behind the rule: ROOM=PREFIX,PREFIX;…');
  const places = parts.flatMap(placesOf).sort((a, b) => b.prefix.length - a.prefix.length);
  const roomOf = (name: string): string => places.find(({ prefix }) => name.startsWith(prefix))?.room ?? '';
  return machineRoomNearbyRule({ ofBroker: ({ brokerName }) => roomOf(brokerName), ofClient: roomOf }, inner);
});

function innerRule(text: string): AllocationRule {
  const [name, options] = halves(text, ':');
  const plugin = innerRules.find((one) => one.name === name);
  if (plugin !== undefined) return plugin.create(options);
  const names = innerRules.map((one) => one.name).join(', ');
  throw new RangeError(`"${text}" is neither ROOM=PREFIX,PREFIX nor a rule to share out within a room (${names})`);
}

function placesOf(text: string): Place[] {
  const [room, prefixes] = halves(text, '=');
  const list = prefixes.split(',').map((prefix) => prefix.trim());
  if (room === '' || list.includes('')) throw new RangeError(`"${text}" is not ROOM=PREFIX,PREFIX`);
  return list.map((prefix) => ({ prefix, room }));
}

/** What stands before and behind the first separator. */
function halves(text: string, separator: string): readonly [string, string] {
  const [before, ...behind] = text.split(separator);
  return [before!.trim(), behind.join(separator).trim()];
}
