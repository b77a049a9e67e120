import { framesByTarget, FrameWriter, type SendContext } from './frame-writer.js';
import { inParallel } from './in-parallel.js';
import type { BrokerTarget } from './load.js';

const CONNECTING_MAX = 64;

interface Lane {
  connect(target: BrokerTarget): Promise<void>;
}

/** The load when all of `open` went well; otherwise it is stopped, so that no connection stays behind. */
export async function opened<L extends { stop(): unknown }>(load: L, open: () => Promise<void>): Promise<L> {
  try {
    await open();
    return load;
  } catch (error) {
    await load.stop();
    throw error;
  }
}

/** Opens the connections of a sending load, brokers in turn, some at a time; `lanes` holds those that were begun. */
export function connectLanes<L extends Lane>(
  { targets, connections }: { readonly targets: readonly BrokerTarget[]; readonly connections: number },
  context: SendContext,
  lanes: L[],
  make: (writer: FrameWriter) => L,
): Promise<void> {
  const framesOf = framesByTarget(context, targets);
  return inParallel(connections, CONNECTING_MAX, async (index) => {
    const target = targets[index % targets.length]!;
    const lane = make(new FrameWriter(context, framesOf(target), index));
    lanes.push(lane);
    await lane.connect(target);
  });
}
