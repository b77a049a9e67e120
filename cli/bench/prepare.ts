import { AdminClient, ClientError, Perm, ResponseCode, type TopicRouteData } from '../../client/index.js';
import { inParallel } from './in-parallel.js';
import type { BrokerTarget, TopicQueue } from './load.js';

/** Where one side of a comparison is reached. */
export interface Side {
  /** Name servers, `host:port;host:port`; or, with `direct`, the broker itself. */
  readonly address: string;
  readonly direct: boolean;
}

export interface TopicWish {
  readonly topics: readonly string[];
  /** Create the topics (or change them) so that each has so many queues. */
  readonly queues: number | undefined;
  /** `both` needs the topics from the start: they are created when they are not there. */
  readonly use: 'write' | 'read' | 'both';
  /** Told how many of the topics are ready. */
  readonly progress: (done: number, total: number) => void;
}

/** 4.9: DefaultMQProducer.defaultTopicQueueNums. */
const AUTO_QUEUES = 4;
export const CREATED_QUEUES = 8;
const ASKED_AT_ONCE = 32;

/** The brokers and queues that take the load. Creates topics when asked to, or leaves that to the first send. */
export async function targetsOf(side: Side, wish: TopicWish): Promise<BrokerTarget[]> {
  const admin = new AdminClient({ namesrvAddr: side.address });
  try {
    if (wish.queues !== undefined) return await created(admin, await mastersOf(admin, side), wish, wish.queues);
    const byTopic = side.direct
      ? await directTargets(admin, side.address, wish)
      : await routedTargets(admin, side, wish);
    return merged(byTopic);
  } finally {
    await admin.close();
  }
}

/** The topics with so many queues on each of these brokers. */
async function created(
  admin: AdminClient,
  brokers: string[],
  wish: TopicWish,
  queues: number,
): Promise<BrokerTarget[]> {
  const { topics, progress } = wish;
  let done = 0;
  await inParallel(topics.length, ASKED_AT_ONCE, async (index) => {
    const topic = topics[index]!;
    for (const broker of brokers) await admin.createTopic(topic, { readQueues: queues, writeQueues: queues, broker });
    progress(++done, topics.length);
  });
  return brokers.map((broker) => ({
    ...hostPort(broker),
    queues: topics.flatMap((topic) => queuesOf(topic, queues)),
  }));
}

async function mastersOf(admin: AdminClient, side: Side): Promise<string[]> {
  if (side.direct) return [side.address];
  const { brokerAddrTable } = await admin.clusterInfo();
  const masters = [...brokerAddrTable.values()].flatMap(({ brokerAddrs }) => brokerAddrs.get(0) ?? []);
  if (masters.length === 0)
    throw new ClientError('NO_BROKER', `no master broker is registered at ${side.address}`, { remedy: 'start one' });
  return masters;
}

/** What one topic has on the brokers. */
async function ofEachTopic(
  { topics, progress }: TopicWish,
  ask: (topic: string) => Promise<BrokerTarget[]>,
): Promise<BrokerTarget[]> {
  const found: BrokerTarget[][] = [];
  let done = 0;
  await inParallel(topics.length, ASKED_AT_ONCE, async (index) => {
    found[index] = await ask(topics[index]!);
    progress(++done, topics.length);
  });
  return found.flat();
}

function directTargets(admin: AdminClient, address: string, wish: TopicWish): Promise<BrokerTarget[]> {
  return ofEachTopic(wish, async (topic) => {
    const queues = await queueCountAt(admin, address, topic);
    if (queues !== undefined) return [{ ...hostPort(address), queues: queuesOf(topic, queues) }];
    if (wish.use === 'both') return created(admin, [address], only(wish, topic), CREATED_QUEUES);
    if (wish.use === 'read') throw noTopic(topic, 'read');
    return [{ ...hostPort(address), queues: queuesOf(topic, AUTO_QUEUES) }];
  });
}

/** Undefined when the broker does not have the topic. */
async function queueCountAt(admin: AdminClient, broker: string, topic: string): Promise<number | undefined> {
  try {
    return (await admin.topicStats(topic, broker)).length;
  } catch (error) {
    if (error instanceof ClientError && error.responseCode === ResponseCode.TOPIC_NOT_EXIST) return undefined;
    throw error;
  }
}

function routedTargets(admin: AdminClient, side: Side, wish: TopicWish): Promise<BrokerTarget[]> {
  return ofEachTopic(wish, async (topic) => {
    const route = (await admin.topicRoute(topic)) ?? (await routeOfNew(admin, topic, wish));
    if (route === undefined) return created(admin, await mastersOf(admin, side), only(wish, topic), CREATED_QUEUES);
    const targets = targetsIn(route, topic, wish.use);
    if (targets.length === 0)
      throw new ClientError('NO_ROUTE', `topic ${topic} has no queue to ${wish.use} on a broker that is up`);
    return targets;
  });
}

const only = (wish: TopicWish, topic: string): TopicWish => ({
  ...wish,
  topics: [topic],
  progress: () => undefined,
});

/** The route that the first send will give a topic; undefined when it is to be created before. */
async function routeOfNew(admin: AdminClient, topic: string, { use }: TopicWish): Promise<TopicRouteData | undefined> {
  if (use === 'both') return undefined;
  const template = use === 'write' ? await admin.topicRoute('TBW102') : undefined;
  if (template === undefined) throw noTopic(topic, use);
  const queueDatas = template.queueDatas.map((data) => ({
    ...data,
    writeQueueNums: Math.min(AUTO_QUEUES, data.readQueueNums),
  }));
  return { ...template, queueDatas };
}

function noTopic(topic: string, use: 'write' | 'read'): ClientError {
  return new ClientError('NO_ROUTE', `topic ${topic} does not exist`, {
    remedy: use === 'read' ? 'fill it with kernel bench produce first' : 'give --queues to create it',
  });
}

function targetsIn(route: TopicRouteData, topic: string, use: TopicWish['use']): BrokerTarget[] {
  const wanted = { write: Perm.WRITE, read: Perm.READ, both: Perm.WRITE | Perm.READ }[use];
  return route.queueDatas.flatMap((data) => {
    const master = route.brokerDatas.find(({ brokerName }) => brokerName === data.brokerName)?.brokerAddrs.get(0);
    const queues = use === 'read' ? data.readQueueNums : data.writeQueueNums;
    const allowed = (data.perm & wanted) === wanted;
    return master === undefined || !allowed || queues < 1
      ? []
      : [{ ...hostPort(master), queues: queuesOf(topic, queues) }];
  });
}

/** One target for each broker. */
function merged(targets: readonly BrokerTarget[]): BrokerTarget[] {
  const byBroker = new Map<string, BrokerTarget & { queues: TopicQueue[] }>();
  for (const { host, port, queues } of targets) {
    const key = `${host}:${port}`;
    const broker = byBroker.get(key);
    if (broker === undefined) byBroker.set(key, { host, port, queues: [...queues] });
    else broker.queues.push(...queues);
  }
  return [...byBroker.values()];
}

const queuesOf = (topic: string, count: number): TopicQueue[] =>
  Array.from({ length: count }, (_, queueId) => ({ topic, queueId }));

function hostPort(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(colon + 1)) };
}
