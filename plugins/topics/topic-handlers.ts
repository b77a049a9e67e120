import { inject, injectable } from '../../kernel/container.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { RequestCode, ResponseCode } from '../../protocol/codes.js';
import type { Request } from '../../protocol/command.js';
import { FieldError } from '../../protocol/fields.js';
import { encodeTopicList } from '../../protocol/bodies/topic-list.js';
import { encodeTopicConfigSerializeWrapper, type TopicConfig } from '../../protocol/bodies/topic-config.js';
import { decodeDeleteTopicInBroker } from '../../protocol/headers/delete-topic-in-broker.js';
import { decodeUpdateAndCreateTopic } from '../../protocol/headers/update-and-create-topic.js';
import { topicProblem } from '../../protocol/message/names.js';
import { RequestRouter, type Connection, type Reply } from '../remoting/contract.js';
import { Queues } from '../reput/contract.js';
import { Topics } from './contract.js';

/** Far above any sensible topic; 4.9.7 takes any number, and route answers and statistics grow with it. */
const QUEUES_PER_TOPIC_MAX = 65_536;
/** PRIORITY, READ, WRITE and INHERIT together. */
const PERM_MAX = 15;

const success: Reply = { code: ResponseCode.SUCCESS };

function refused(remark: string): Reply {
  return { code: ResponseCode.SYSTEM_ERROR, remark };
}

function inRange(value: number, max: number, field: string): number {
  if (value < 0 || value > max) throw new FieldError(field, `must be between 0 and ${max}, not ${value}`);
  return value;
}

function filterType(text: string): TopicConfig['topicFilterType'] {
  if (text === 'SINGLE_TAG' || text === 'MULTI_TAG') return text;
  throw new FieldError('topicFilterType', `must be SINGLE_TAG or MULTI_TAG, not ${JSON.stringify(text.slice(0, 40))}`);
}

/** Administration of topics (4.9: AdminBrokerProcessor). */
@injectable()
export class TopicHandlers {
  readonly #topics: Topics;
  readonly #queues: Queues;
  readonly #options: Options;
  readonly #logger: Logger;

  constructor(
    @inject(Topics) topics: Topics,
    @inject(Queues) queues: Queues,
    @inject(Options) options: Options,
    @inject(Logger) logger: Logger,
  ) {
    this.#topics = topics;
    this.#queues = queues;
    this.#options = options;
    this.#logger = logger;
  }

  register(router: RequestRouter): void {
    router.handle(RequestCode.UPDATE_AND_CREATE_TOPIC, (request, connection) => this.#put(request, connection));
    router.handle(RequestCode.DELETE_TOPIC_IN_BROKER, (request, connection) => this.#delete(request, connection));
    router.handle(RequestCode.GET_ALL_TOPIC_CONFIG, () => this.#all());
    router.handle(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER, () => {
      return { code: ResponseCode.SUCCESS, body: encodeTopicList({ topicList: [...this.#topics.systemTopics] }) };
    });
  }

  /** 4.9: updateAndCreateTopic. The request's `order` is not stored: the name server's configuration decides it. */
  async #put(request: Request, connection: Connection): Promise<Reply> {
    const header = decodeUpdateAndCreateTopic(request.ext);
    const problem = this.#problem(header.topic);
    if (problem !== undefined) return refused(problem);
    const config: TopicConfig = {
      topicName: header.topic,
      readQueueNums: inRange(header.readQueueNums, QUEUES_PER_TOPIC_MAX, 'readQueueNums'),
      writeQueueNums: inRange(header.writeQueueNums, QUEUES_PER_TOPIC_MAX, 'writeQueueNums'),
      perm: inRange(header.perm, PERM_MAX, 'perm'),
      topicFilterType: filterType(header.topicFilterType),
      topicSysFlag: header.topicSysFlag ?? 0,
      order: false,
    };
    this.#logger.info({ topic: header.topic, client: connection.remote }, 'topic creation asked for');
    await this.#topics.put(config);
    return success;
  }

  /** 4.9: deleteTopic. Committed offsets stay, as in 4.9.7. */
  async #delete(request: Request, connection: Connection): Promise<Reply> {
    const { topic } = decodeDeleteTopicInBroker(request.ext);
    const problem = this.#problem(topic);
    if (problem !== undefined) return refused(problem);
    this.#logger.info({ topic, client: connection.remote }, 'topic deletion asked for');
    await this.#topics.delete(topic, () => this.#queues.deleteTopic(topic));
    return success;
  }

  #all(): Reply {
    const body = encodeTopicConfigSerializeWrapper({
      topicConfigTable: this.#topics.all(),
      dataVersion: this.#topics.dataVersion,
    });
    return { code: ResponseCode.SUCCESS, ext: {}, body };
  }

  #problem(topic: string): string | undefined {
    if (this.#options.brokerRole === 'SLAVE') {
      return "Can't modify topic or subscription group from slave broker, please execute it from master broker.";
    }
    const problem = topicProblem(topic);
    if (problem !== undefined) return problem;
    return this.#topics.isSystemTopic(topic) ? `The topic[${topic}] is conflict with system topic.` : undefined;
  }
}
