import { AdminClient, ClientError, Perm, type TopicRouteData } from '../../client/index.js';
import type { BrokerTarget } from './load.js';

/** Where one side of a comparison is reached. */
export interface Side {
  /** Name servers, `host:port;host:port`; or, with `direct`, the broker itself. */
  readonly address: string;
  readonly direct: boolean;
}

export interface TopicWish {
  readonly topic: string;
  /** Create the topic (or change it) so that it has so many queues. */
  readonly queues: number | undefined;
  readonly use: 'write' | 'read';
}

/** 4.9: DefaultMQProducer.defaultTopicQueueNums. */
const AUTO_QUEUES = 4;
/** What a broker needs to register a new topic at its name servers. */
const REGISTER_WAIT_MS = 5000;
const LOOK_MS = 100;

/** The brokers and queues that take the load. Creates the topic when asked to, or leaves that to the first send. */
export async function targetsOf(side: Side, wish: TopicWish): Promise<BrokerTarget[]> {
  const admin = new AdminClient({ namesrvAddr: side.address });
  try {
    if (side.direct) return await directTarget(admin, side.address, wish);
    if (wish.queues !== undefined) await createEverywhere(admin, wish.topic, wish.queues);
    const route = await routeOf(admin, wish);
    const targets = targetsIn(route, wish);
    if (targets.length === 0)
      throw new ClientError('NO_ROUTE', `topic ${wish.topic} has no queue to ${wish.use} on a broker that is up`);
    return targets;
  } finally {
    await admin.close();
  }
}

async function directTarget(admin: AdminClient, address: string, wish: TopicWish): Promise<BrokerTarget[]> {
  if (wish.queues !== undefined) await create(admin, wish.topic, wish.queues, address);
  return [{ ...hostPort(address), queueIds: range(wish.queues ?? AUTO_QUEUES) }];
}

async function createEverywhere(admin: AdminClient, topic: string, queues: number): Promise<void> {
  const { brokerAddrTable } = await admin.clusterInfo();
  for (const { brokerAddrs } of brokerAddrTable.values()) {
    const master = brokerAddrs.get(0);
    if (master !== undefined) await create(admin, topic, queues, master);
  }
  // The name servers hear of it from the brokers, a moment later.
  for (let waitedMs = 0; waitedMs < REGISTER_WAIT_MS; waitedMs += LOOK_MS) {
    const route = await admin.topicRoute(topic);
    if (route?.queueDatas.every(({ writeQueueNums }) => writeQueueNums === queues) === true) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

function create(admin: AdminClient, topic: string, queues: number, broker: string): Promise<void> {
  return admin.createTopic(topic, { readQueues: queues, writeQueues: queues, broker });
}

async function routeOf(admin: AdminClient, { topic, use }: TopicWish): Promise<TopicRouteData> {
  const route = await admin.topicRoute(topic);
  if (route !== undefined) return route;
  const template = use === 'write' ? await admin.topicRoute('TBW102') : undefined;
  if (template === undefined)
    throw new ClientError('NO_ROUTE', `topic ${topic} does not exist`, {
      remedy: use === 'read' ? 'fill it with kernel bench produce first' : 'give --queues to create it',
    });
  const queueDatas = template.queueDatas.map((data) => ({
    ...data,
    writeQueueNums: Math.min(AUTO_QUEUES, data.readQueueNums),
  }));
  return { ...template, queueDatas };
}

function targetsIn(route: TopicRouteData, { use }: TopicWish): BrokerTarget[] {
  return route.queueDatas.flatMap((data) => {
    const master = route.brokerDatas.find(({ brokerName }) => brokerName === data.brokerName)?.brokerAddrs.get(0);
    const queues = use === 'write' ? data.writeQueueNums : data.readQueueNums;
    const allowed = (data.perm & (use === 'write' ? Perm.WRITE : Perm.READ)) !== 0;
    return master === undefined || !allowed || queues < 1 ? [] : [{ ...hostPort(master), queueIds: range(queues) }];
  });
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function hostPort(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(address.slice(colon + 1)) };
}
