import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

// Below the range from which Linux takes ports for outgoing connections.
const lowest = 20_000;
const highest = 32_000;
const triesMax = 200;

/** A port that is free together with its neighbours at the given distances, for servers that cannot choose themselves. */
export async function freePort(distances: readonly number[] = [0]): Promise<number> {
  for (let tried = 0; tried < triesMax; tried++) {
    const port = randomInt(lowest, highest);
    const free = await Promise.all(distances.map((distance) => isFree(port + distance)));
    if (free.every(Boolean)) return port;
  }
  throw new Error(`found no free port between ${lowest} and ${highest} in ${triesMax} tries`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
