import { Socket, type OnReadOpts } from 'node:net';

/** What Node does not declare: the handle under a socket, and that another socket may take it over. */
interface Handle {
  readonly useUserBuffer?: unknown;
}
interface WithHandle {
  _handle: Handle | null;
}
type Takeover = new (options: { handle: Handle; onread: OnReadOpts }) => Socket;

/**
 * Reads an accepted socket, which must be paused, into one buffer over and over: `onBytes` gets what came, and must have copied what it
 * keeps when it returns. Node gives each read memory of its own otherwise, and under load collecting that costs a quarter of the
 * broker's CPU. For sockets that a program opens it has `onread`; an accepted one gets it by handing its handle to a new socket. Where
 * a Node has no such handle the socket is read in the common way, and on Windows, too: there reads of all sockets are under way at once,
 * each into the memory that it was given before.
 */
export function readInto(
  accepted: Socket,
  buffer: Buffer,
  onBytes: (bytes: Buffer) => void,
  platform: NodeJS.Platform = process.platform,
): Socket {
  const holder = accepted as unknown as WithHandle;
  const handle = holder._handle;
  if (platform === 'win32' || typeof handle?.useUserBuffer !== 'function') {
    accepted.on('data', onBytes);
    accepted.resume();
    return accepted;
  }
  // The server counts the socket as ended; its connection goes on in the new one.
  holder._handle = null;
  accepted.destroy();
  const callback = (bytes: number): boolean => {
    onBytes(buffer.subarray(0, bytes));
    return true;
  };
  return new (Socket as unknown as Takeover)({ handle, onread: { buffer, callback } });
}
