import type { Options } from '../../../config/options.js';
import { FilterError, type FilterRegistry } from '../../../plugins/filter/contract.js';
import { ClientHandlers } from '../../../plugins/groups/client-handlers.js';
import { ConsumerTable } from '../../../plugins/groups/consumer-table.js';
import { GroupHandlers } from '../../../plugins/groups/group-handlers.js';
import { GroupTable } from '../../../plugins/groups/group-table.js';
import { GroupsFile } from '../../../plugins/groups/groups-file.js';
import { Notifier } from '../../../plugins/groups/notifier.js';
import { ProducerTable } from '../../../plugins/groups/producer-table.js';
import { QueueLocks } from '../../../plugins/groups/queue-locks.js';
import type { Offsets } from '../../../plugins/offsets/contract.js';
import type { Connection } from '../../../plugins/remoting/contract.js';
import { TopicTable } from '../../../plugins/topics/topic-table.js';
import { TopicsFile } from '../../../plugins/topics/topics-file.js';
import { encodeHeartbeat, type ConsumerData } from '../../../protocol/bodies/heartbeat.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { FakeConnections, FakeRouter } from '../../support/fake-connection.js';
import { localPool } from '../../support/local-pool.js';
import { recordingLogger } from '../../support/recording-logger.js';

/** Knows SQL92, and refuses the expression `bad`. */
const filters = {
  get: (type: string) => (type === 'SQL92' ? {} : undefined),
  compile: (_type: string, expression: string) => {
    if (expression === 'bad') throw new FilterError('unexpected end', 3);
    return {};
  },
} as unknown as FilterRegistry;

/** The plugin's parts, wired by hand, on a clock that stands still. */
export function setUp(changes: Partial<Options> = {}) {
  const options = defaultOptions({ memory: true, ...changes });
  const logger = recordingLogger();
  const clock = new FakeClock();
  const groups = new GroupTable(options, clock, logger, new GroupsFile(options, localPool, logger));
  const topics = new TopicTable(options, clock, logger, new TopicsFile(options, localPool, logger));
  const consumers = new ConsumerTable(options, clock, logger, new Notifier(clock));
  const producers = new ProducerTable(options, clock, logger);
  const deletedOffsets: string[] = [];
  const offsets = { deleteGroup: (group: string) => void deletedOffsets.push(group) } as Offsets;
  const router = new FakeRouter();
  const locks = new QueueLocks(options, clock, logger, consumers, groups);
  locks.register(router);
  new ClientHandlers(consumers, producers, groups, topics, filters, locks).register(router);
  new GroupHandlers(options, clock, logger, groups, consumers, producers, offsets).register(router);
  const connections = new FakeConnections();
  connections.onClose((connection) => {
    producers.closed(connection);
    consumers.closed(connection);
  });
  const tables = { groups, topics, consumers, producers, locks };
  return { options, logger, clock, ...tables, deletedOffsets, router, connections };
}

export type SetUp = ReturnType<typeof setUp>;

/** HEART_BEAT (34). */
export async function heartbeat(
  { router }: SetUp,
  connection: Connection,
  clientID: string,
  consumerDataSet: readonly ConsumerData[],
  producerGroups: readonly string[] = [],
) {
  const producerDataSet = producerGroups.map((groupName) => ({ groupName }));
  const body = encodeHeartbeat({ clientID, consumerDataSet, producerDataSet });
  return router.call(34, { body, connection });
}

/** Lets notifications of this turn go out. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
