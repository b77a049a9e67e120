import assert from 'node:assert/strict';
import { PullSysFlag, RequestCode, ResponseCode } from '../../../protocol/codes.js';
import { encodeGetMaxOffset, decodeGetMaxOffsetResponse } from '../../../protocol/headers/get-max-offset.js';
import { decodePullMessageResponse, encodePullMessage } from '../../../protocol/headers/pull-message.js';
import { crc32 } from '../../../protocol/message/crc.js';
import { decodeOffsetMessageId } from '../../../protocol/message/message-id.js';
import { decodeRecords, type StoredMessage } from '../../../protocol/message/record.js';
import { messageOf } from '../../../kernel/base/errors.js';
import { RawClient } from '../../support/raw-client.js';
import { until } from '../../support/until.js';
import { nameOf } from './bodies.js';
import type { Sent } from './ledger.js';
import type { Load } from './load.js';

const PROBLEMS_SHOWN = 12;
/** Answered so and still perhaps stored: the disk was too slow to say so in time. */
const maybeStored: ReadonlySet<number> = new Set([ResponseCode.FLUSH_DISK_TIMEOUT]);

/** Hands out all messages of a queue, from offset 0 to the end, as the broker's pulls answer them. */
export async function eachMessage(
  client: RawClient,
  topic: string,
  queueId: number,
  see: (message: StoredMessage) => void,
): Promise<void> {
  for (let offset = 0; ;) {
    const answer = await client.ask(RequestCode.PULL_MESSAGE, { ext: pullFields(topic, queueId, offset) });
    if (answer.code === ResponseCode.PULL_NOT_FOUND) return;
    assert.equal(answer.code, ResponseCode.SUCCESS, `pull of ${topic}/${queueId} at ${offset}: ${answer.remark}`);
    for (const message of decodeRecords(answer.body)) see(message);
    const { nextBeginOffset } = decodePullMessageResponse(answer.ext);
    assert.ok(nextBeginOffset > offset, `pull of ${topic}/${queueId} at ${offset} goes on at ${nextBeginOffset}`);
    offset = nextBeginOffset;
  }
}

function pullFields(topic: string, queueId: number, queueOffset: number): ReturnType<typeof encodePullMessage> {
  return encodePullMessage({
    consumerGroup: 'auditor',
    topic,
    queueId,
    queueOffset,
    maxMsgNums: 10_000,
    sysFlag: PullSysFlag.SUBSCRIPTION,
    commitOffset: 0,
    suspendTimeoutMillis: 0,
    subscription: '*',
    subVersion: 0,
    expressionType: 'TAG',
  });
}

export async function maxOffset(client: RawClient, topic: string, queueId: number): Promise<number> {
  const answer = await client.ask(RequestCode.GET_MAX_OFFSET, { ext: encodeGetMaxOffset({ topic, queueId }) });
  assert.equal(answer.code, ResponseCode.SUCCESS, `max offset of ${topic}/${queueId}: ${answer.remark}`);
  return decodeGetMaxOffsetResponse(answer.ext).offset;
}

/** How many messages the store holds, by what the ledger says of them. */
export interface Audited {
  readonly stored: number;
  readonly acked: number;
}

/**
 * Reads a load's queues and compares them with its ledger. Fails naming what is lost (acknowledged and not there), invented (there
 * and never sent, refused, twice, or with other bytes), out of order (a producer's messages in one queue), or numbered with a hole.
 */
export async function audit(load: Load, port: number): Promise<Audited> {
  const check = await auditVisible(load, port);
  check.findLost();
  return check.result();
}

/** The same without what is lost, while not all that was acknowledged has to be visible. */
export async function auditPart(load: Load, port: number): Promise<Audited> {
  return (await auditVisible(load, port)).result();
}

/** What a power cut took: acknowledged, and not there. */
export interface Taken {
  readonly count: number;
  /** How long before the cut the oldest of them was acknowledged, ms. */
  readonly oldestMs: number;
}

/**
 * As `audit`, after a power cut that may take a suffix of what was acknowledged: fails when something behind it is there. What is
 * taken counts as unknown from now on.
 */
export async function auditAfterCut(load: Load, port: number, cutMs: number): Promise<Taken> {
  const check = await auditVisible(load, port);
  const taken = check.takeLost();
  check.result();
  return { count: taken.length, oldestMs: Math.max(0, ...taken.map(({ ackedMs }) => cutMs - ackedMs)) };
}

/** As `audit`, after as long as it takes until everything acknowledged is visible; fails with what the last audit found. */
export async function auditSoon(load: Load, port: number, limitMs: number): Promise<Audited> {
  let last: Audited | undefined;
  let failure: unknown;
  const passes = async (): Promise<boolean> => {
    try {
      last = await audit(load, port);
    } catch (error) {
      failure = error;
    }
    return last !== undefined;
  };
  await until(passes, 'everything is visible', limitMs).catch((error: unknown) => {
    throw new Error(`${messageOf(error)}: ${messageOf(failure)}`);
  });
  return last!;
}

async function auditVisible(load: Load, port: number): Promise<QueueCheck> {
  const { topic, queues } = load.shape;
  using client = await RawClient.connect(`127.0.0.1:${port}`);
  const check = new QueueCheck(load);
  for (let queueId = 0; queueId < queues; queueId++) {
    check.begin(queueId);
    await eachMessage(client, topic, queueId, (message) => check.see(message));
    check.end(await maxOffset(client, topic, queueId));
  }
  return check;
}

class QueueCheck {
  readonly problems: string[] = [];
  stored = 0;
  readonly #seen = new Set<string>();
  #queueId = 0;
  #nextOffset = 0;
  #lastPhysical = -1;
  #maxPhysical = -1;
  #lastSequence = new Map<number, number>();

  constructor(private readonly load: Load) {
    for (const stray of load.ledger.strays) this.problems.push(`an answer that nobody waits for: ${stray}`);
  }

  begin(queueId: number): void {
    this.#queueId = queueId;
    this.#nextOffset = 0;
    this.#lastPhysical = -1;
    this.#lastSequence = new Map();
  }

  see(message: StoredMessage): void {
    this.stored++;
    const { queueOffset, physicalOffset } = message;
    if (queueOffset !== this.#nextOffset) this.#problem(`offset ${queueOffset} follows ${this.#nextOffset - 1}`);
    if (physicalOffset <= this.#lastPhysical) this.#problem(`offset ${queueOffset} lies before its predecessor`);
    this.#nextOffset = queueOffset + 1;
    this.#maxPhysical = Math.max(this.#maxPhysical, physicalOffset);
    this.#lastPhysical = physicalOffset;
    this.#isOurs(message);
  }

  end(maxOffset: number): void {
    if (maxOffset !== this.#nextOffset) this.#problem(`max offset ${maxOffset}, but pulls end at ${this.#nextOffset}`);
  }

  findLost(): void {
    for (const [producer, sequence, sent] of this.load.ledger.all()) {
      if (sent.outcome !== 'acked' || this.#seen.has(`${producer}-${sequence}`)) continue;
      this.problems.push(
        `lost: producer ${producer}, sequence ${sequence}, acknowledged as ${sent.msgId} at ${sent.queueId}/${sent.queueOffset}`,
      );
    }
  }

  /** Those acknowledged and not there, which must all have stood behind what is there. */
  takeLost(): Sent[] {
    const taken: Sent[] = [];
    for (const [producer, sequence, sent] of this.load.ledger.all()) {
      if (sent.outcome !== 'acked' || this.#seen.has(`${producer}-${sequence}`)) continue;
      const { physicalOffset } = decodeOffsetMessageId(sent.msgId);
      if (physicalOffset <= this.#maxPhysical)
        this.problems.push(
          `hole: producer ${producer}, sequence ${sequence}, acknowledged at ${physicalOffset}, is gone; ${this.#maxPhysical} is there`,
        );
      sent.outcome = 'unknown';
      taken.push(sent);
    }
    return taken;
  }

  /** Fails when there is a problem. */
  result(): Audited {
    const { problems, stored } = this;
    const shown = problems.slice(0, PROBLEMS_SHOWN).join('\n');
    assert.equal(problems.length, 0, `${problems.length} problems, ${stored} messages stored:\n${shown}`);
    return { stored, acked: this.load.acked };
  }

  #isOurs({ body, bodyCrc, queueOffset, msgId, properties, topic, queueId }: StoredMessage): void {
    const name = nameOf(body);
    if (name === undefined) return this.#problem(`offset ${queueOffset}: ${body.length} bytes that nobody sent`);
    const { producer, sequence } = name;
    const who = `offset ${queueOffset}, producer ${producer}, sequence ${sequence}`;
    const sent = this.load.ledger.find(producer, sequence);
    if (sent === undefined) return this.#problem(`${who}: was never sent`);
    const key = `${producer}-${sequence}`;
    if (this.#seen.has(key)) this.#problem(`${who}: stored twice`);
    this.#seen.add(key);
    if (!body.equals(this.load.bodies.make(producer, sequence))) this.#problem(`${who}: other bytes than sent`);
    if (bodyCrc !== crc32(body)) this.#problem(`${who}: the record's CRC is wrong`);
    if (topic !== this.load.shape.topic || queueId !== this.#queueId || sent.queueId !== queueId)
      this.#problem(`${who}: in the wrong queue, ${topic}/${queueId}`);
    if (!properties.includes(`UNIQ_KEY\u0001${key}\u0002`)) this.#problem(`${who}: properties of another message`);
    if (sequence <= (this.#lastSequence.get(producer) ?? -1)) this.#problem(`${who}: out of order`);
    this.#lastSequence.set(producer, sequence);
    if (sent.outcome === 'refused' && !maybeStored.has(sent.code)) this.#problem(`${who}: was refused (${sent.code})`);
    if (sent.outcome === 'acked' && (sent.queueOffset !== queueOffset || sent.msgId !== msgId))
      this.#problem(`${who}: acknowledged as ${sent.msgId} at ${sent.queueOffset}, stored as ${msgId}`);
  }

  #problem(text: string): void {
    this.problems.push(`queue ${this.#queueId}, ${text}`);
  }
}
