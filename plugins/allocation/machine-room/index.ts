import { defineAllocation } from '../contract.js';
import { machineRoomRule } from './rule.js';

/** `machine-room:east,west` */
export default defineAllocation('machine-room', (options) => {
  const rooms = options.split(',').map((room) => room.trim());
  if (rooms.includes('')) throw new RangeError('write the machine rooms, with commas between');
  return machineRoomRule(rooms);
});
