import { inject, injectable } from '../../kernel/container.js';
import { Logger } from '../../kernel/tokens.js';
import { encodeClusterInfo, encodeTopicRouteData } from '../../protocol/bodies/route.js';
import { encodeTopicList } from '../../protocol/bodies/topic-list.js';
import { RequestCode, ResponseCode, Version } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import {
  decodeAddWritePermOfBroker,
  encodeAddWritePermOfBrokerResponse,
} from '../../protocol/headers/add-write-perm-of-broker.js';
import { decodeDeleteTopicInNamesrv } from '../../protocol/headers/delete-topic-in-namesrv.js';
import { decodeGetRouteinfoByTopic } from '../../protocol/headers/get-routeinfo-by-topic.js';
import { decodeGetTopicsByCluster } from '../../protocol/headers/get-topics-by-cluster.js';
import {
  decodeWipeWritePermOfBroker,
  encodeWipeWritePermOfBrokerResponse,
} from '../../protocol/headers/wipe-write-perm-of-broker.js';
import type { Connection, Reply, RequestRouter } from '../remoting/contract.js';
import { KvConfig, ORDER_TOPIC_CONFIG } from './kv-config.js';
import { NamesrvSettings } from './namesrv-settings.js';
import { RouteTable } from './route-table.js';

/** 4.9: FAQUrl#suggestTodo(APPLY_TOPIC_URL); clients look for this text. */
const HELP = '\nSee http://rocketmq.apache.org/docs/faq/ for further details.';
/** 4.9: TopicSysFlag. */
const FLAG_UNIT = 1;
const FLAG_UNIT_SUB = 2;

function topicList(topics: readonly string[], brokerAddr?: string): Reply {
  return { code: ResponseCode.SUCCESS, body: encodeTopicList({ topicList: topics, brokerAddr }) };
}

/** What clients and mqadmin ask of a name server (4.9: DefaultRequestProcessor). */
@injectable()
export class RouteHandlers {
  readonly #routes: RouteTable;
  readonly #kv: KvConfig;
  readonly #settings: NamesrvSettings;
  readonly #logger: Logger;

  constructor(
    @inject(RouteTable) routes: RouteTable,
    @inject(KvConfig) kv: KvConfig,
    @inject(NamesrvSettings) settings: NamesrvSettings,
    @inject(Logger) logger: Logger,
  ) {
    this.#routes = routes;
    this.#kv = kv;
    this.#settings = settings;
    this.#logger = logger;
  }

  register(router: RequestRouter): void {
    const routes = this.#routes;
    router.handle(RequestCode.GET_ROUTEINFO_BY_TOPIC, (request) => this.#route(request));
    router.handle(RequestCode.GET_BROKER_CLUSTER_INFO, () => {
      return { code: ResponseCode.SUCCESS, body: encodeClusterInfo(routes.clusterInfo()) };
    });
    router.handle(RequestCode.WIPE_WRITE_PERM_OF_BROKER, (request, from) => this.#wipeWritePerm(request, from));
    router.handle(RequestCode.ADD_WRITE_PERM_OF_BROKER, (request, from) => this.#addWritePerm(request, from));
    router.handle(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, () => topicList(routes.topicNames()));
    router.handle(RequestCode.DELETE_TOPIC_IN_NAMESRV, (request, from) => this.#deleteTopic(request, from));
    router.handle(RequestCode.GET_TOPICS_BY_CLUSTER, (request) => {
      return topicList(routes.topicsOfCluster(decodeGetTopicsByCluster(request.ext).cluster));
    });
    router.handle(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS, () => {
      const { topics, brokerAddr } = routes.systemTopics();
      return topicList(topics, brokerAddr);
    });
    const unitLists: readonly [code: number, wanted: (flag: number) => boolean][] = [
      [RequestCode.GET_UNIT_TOPIC_LIST, (flag) => (flag & FLAG_UNIT) !== 0],
      [RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST, (flag) => (flag & FLAG_UNIT_SUB) !== 0],
      [
        RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST,
        (flag) => (flag & (FLAG_UNIT | FLAG_UNIT_SUB)) === FLAG_UNIT_SUB,
      ],
    ];
    for (const [code, wanted] of unitLists) router.handle(code, () => topicList(routes.topicsWhere(wanted)));
  }

  /** 4.9: getRouteInfoByTopic. Clients before 4.9.4 cannot read quoted number keys, newer ones cannot read bare ones (B35). */
  #route(request: Request): Reply {
    const { topic, acceptStandardJsonOnly } = decodeGetRouteinfoByTopic(request.ext);
    const route = this.#routes.route(topic);
    if (route === undefined) {
      const remark = `No topic route info in name server for the topic: ${topic}${HELP}`;
      return { code: ResponseCode.TOPIC_NOT_EXIST, remark };
    }
    const orderTopicConf = this.#settings.orderMessageEnable ? this.#kv.get(ORDER_TOPIC_CONFIG, topic) : undefined;
    const standard = request.version >= Version.V4_9_4 || acceptStandardJsonOnly === true;
    const body = encodeTopicRouteData({ ...route, orderTopicConf }, standard ? 'standard' : 'fastjson');
    return { code: ResponseCode.SUCCESS, body };
  }

  #wipeWritePerm(request: Request, connection: Connection): Reply {
    const { brokerName } = decodeWipeWritePermOfBroker(request.ext);
    const wipeTopicCount = this.#routes.setWritable(brokerName, false);
    this.#logger.info(
      { broker: brokerName, topics: wipeTopicCount, client: connection.remote },
      'write permission taken',
    );
    return { code: ResponseCode.SUCCESS, ext: encodeWipeWritePermOfBrokerResponse({ wipeTopicCount }) };
  }

  #addWritePerm(request: Request, connection: Connection): Reply {
    const { brokerName } = decodeAddWritePermOfBroker(request.ext);
    const addTopicCount = this.#routes.setWritable(brokerName, true);
    this.#logger.info(
      { broker: brokerName, topics: addTopicCount, client: connection.remote },
      'write permission given',
    );
    return { code: ResponseCode.SUCCESS, ext: encodeAddWritePermOfBrokerResponse({ addTopicCount }) };
  }

  #deleteTopic(request: Request, connection: Connection): Reply {
    const { topic, clusterName } = decodeDeleteTopicInNamesrv(request.ext);
    this.#routes.deleteTopic(topic, clusterName);
    this.#logger.info({ topic, cluster: clusterName, client: connection.remote }, 'topic deleted from the routes');
    return { code: ResponseCode.SUCCESS };
  }
}
