import { takesPart, type AllocationRule } from '../contract.js';

/**
 * Only queues of brokers in the given machine rooms, by the first part of names like `room@broker`: an equal number to each
 * client, the rest one by one (4.9: AllocateMessageQueueByMachineRoom). Nobody consumes the queues of other brokers.
 */
export function machineRoomRule(rooms: Iterable<string>): AllocationRule {
  const known = new Set<string | undefined>(rooms);
  return {
    name: 'MACHINE_ROOM',
    allocate(_group, currentClientId, queues, clientIds) {
      if (!takesPart(currentClientId, queues, clientIds)) return [];
      const inRooms = queues.filter(({ brokerName }) => known.has(roomOf(brokerName)));
      const index = clientIds.indexOf(currentClientId);
      const share = Math.floor(inRooms.length / clientIds.length);
      const rest = inRooms.slice(share * clientIds.length);
      return [...inRooms.slice(index * share, (index + 1) * share), ...rest.slice(index, index + 1)];
    },
  };
}

/** Java's `split("@")` forgets empty parts at the end: `room@broker@` has a room, `room@` has none. */
function roomOf(brokerName: string): string | undefined {
  const parts = brokerName.replace(/@+$/, '').split('@');
  return parts.length === 2 ? parts[0] : undefined;
}
