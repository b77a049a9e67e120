import type { Options } from '../../../config/options.js';
import type { Connection, Reply } from '../../../plugins/remoting/contract.js';
import { BrokerHandlers } from '../../../plugins/routes/broker-handlers.js';
import { KvConfig } from '../../../plugins/routes/kv-config.js';
import { KvFile } from '../../../plugins/routes/kv-file.js';
import { NamesrvSettings } from '../../../plugins/routes/namesrv-settings.js';
import { RouteHandlers } from '../../../plugins/routes/route-handlers.js';
import { RouteTable } from '../../../plugins/routes/route-table.js';
import { SettingsHandlers } from '../../../plugins/routes/settings-handlers.js';
import { encodeRegisterBrokerBody } from '../../../protocol/bodies/register-broker.js';
import type { DataVersion, TopicConfig } from '../../../protocol/bodies/topic-config.js';
import { encodeRegisterBroker } from '../../../protocol/headers/register-broker.js';
import { crc32 } from '../../../protocol/message/crc.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { FakeConnections, FakeRouter } from '../../support/fake-connection.js';
import { localPool } from '../../support/local-pool.js';
import { recordingLogger } from '../../support/recording-logger.js';

/** The name server's parts, wired by hand, on a clock that stands still. */
export function setUp(changes: Partial<Options> = {}) {
  const options = defaultOptions({ memory: true, role: 'namesrv', ...changes });
  const logger = recordingLogger();
  const clock = new FakeClock();
  const routes = new RouteTable(options, clock, logger);
  const kv = new KvConfig(new KvFile(options, localPool, logger), logger);
  kv.load();
  const settings = new NamesrvSettings(options);
  const router = new FakeRouter();
  new BrokerHandlers(routes, kv, logger).register(router);
  new RouteHandlers(routes, kv, settings, logger).register(router);
  new SettingsHandlers(kv, settings, logger).register(router);
  const connections = new FakeConnections();
  connections.onClose((connection) => routes.connectionClosed(connection));
  return { options, logger, clock, routes, kv, router, connections };
}

export type SetUp = ReturnType<typeof setUp>;

export interface FakeBroker {
  readonly cluster?: string;
  readonly name?: string;
  readonly id?: number;
  readonly addr?: string;
  readonly ha?: string;
  readonly topics?: readonly (string | TopicConfig)[];
  readonly version?: DataVersion;
  readonly filterServers?: readonly string[];
  readonly compressed?: boolean;
  readonly connection?: Connection;
}

export function topic(topicName: string, more: Partial<TopicConfig> = {}): TopicConfig {
  const queues = { readQueueNums: 4, writeQueueNums: 4 };
  return { topicName, ...queues, perm: 6, topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false, ...more };
}

/** REGISTER_BROKER (103) as a broker of 4.9.7 sends it. */
export async function register({ router, connections }: SetUp, broker: FakeBroker = {}): Promise<Reply> {
  const topics = (broker.topics ?? ['T']).map((one) => (typeof one === 'string' ? topic(one) : one));
  const compressed = broker.compressed ?? false;
  const body = encodeRegisterBrokerBody(
    {
      topicConfigSerializeWrapper: {
        topicConfigTable: new Map(topics.map((one) => [one.topicName, one])),
        dataVersion: broker.version ?? { timestamp: 1, counter: 1 },
      },
      filterServerList: broker.filterServers ?? [],
    },
    compressed,
  );
  const ext = encodeRegisterBroker({
    clusterName: broker.cluster ?? 'C',
    brokerName: broker.name ?? 'a',
    brokerId: broker.id ?? 0,
    brokerAddr: broker.addr ?? '10.0.0.1:10911',
    haServerAddr: broker.ha ?? '10.0.0.1:10912',
    compressed,
    bodyCrc32: crc32(body),
  });
  return router.call(103, { ext, body, connection: broker.connection ?? connections.connect() });
}
