import { averagelyRule } from '../averagely/rule.js';
import { takesPart, type AllocationRule, type MessageQueue } from '../contract.js';

/** Where things stand. An empty answer is refused: a queue whose room nobody knows would be consumed by nobody. */
export interface MachineRooms {
  ofBroker(queue: MessageQueue): string;
  ofClient(clientId: string): string;
}

/**
 * Queues go to the clients of their broker's machine room, and to all clients when that room has none; another rule shares them
 * out among those (4.9: AllocateMachineRoomNearby). Throws RangeError when a room is not known.
 */
export function machineRoomNearbyRule(rooms: MachineRooms, inner: AllocationRule = averagelyRule): AllocationRule {
  return {
    name: `MACHINE_ROOM_NEARBY-${inner.name}`,
    allocate(group, currentClientId, queues, clientIds) {
      if (!takesPart(currentClientId, queues, clientIds)) return [];
      const queuesIn = groupBy(
        queues,
        (queue) => rooms.ofBroker(queue),
        ({ brokerName }) => `broker ${brokerName}`,
      );
      const clientsIn = groupBy(
        clientIds,
        (id) => rooms.ofClient(id),
        (id) => `client ${id}`,
      );
      const mine = rooms.ofClient(currentClientId);
      // 4.9: first the own room's queues, then those of rooms without clients, in the order of the rooms' names.
      const shared = [...queuesIn.keys()].filter((room) => !clientsIn.has(room)).sort();
      const near = queuesIn.get(mine);
      return [
        ...(near === undefined ? [] : inner.allocate(group, currentClientId, near, clientsIn.get(mine) ?? [])),
        ...shared.flatMap((room) => inner.allocate(group, currentClientId, queuesIn.get(room) ?? [], clientIds)),
      ];
    },
  };
}

function groupBy<T>(items: readonly T[], roomOf: (item: T) => string, shown: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const room = roomOf(item);
    if (typeof room !== 'string' || room === '')
      throw new RangeError(`nobody says in which machine room ${shown(item)} is`);
    const group = groups.get(room);
    if (group === undefined) groups.set(room, [item]);
    else group.push(item);
  }
  return groups;
}
