import { encodeHeartbeat } from '../../../protocol/bodies/heartbeat.js';
import { RequestCode, ResponseCode, SysFlag } from '../../../protocol/codes.js';
import { decodeCheckTransactionState } from '../../../protocol/headers/check-transaction-state.js';
import { encodeEndTransaction } from '../../../protocol/headers/end-transaction.js';
import { decodeOffsetMessageId } from '../../../protocol/message/message-id.js';
import { decodeRecords } from '../../../protocol/message/record.js';
import { RawClient, type Answer } from '../../support/raw-client.js';
import { propertyText, send } from '../../support/send-pull.js';
import { nameOf } from './bodies.js';
import { nowMs } from './lives.js';
import type { Transaction, TransactionLoad } from './transaction-load.js';

/** Where a half stands: what an end of it names. */
interface Place {
  readonly tranStateTableOffset: number;
  readonly commitLogOffset: number;
}

const types = { commit: SysFlag.TRANSACTION_COMMIT, rollback: SysFlag.TRANSACTION_ROLLBACK, unknown: 0 } as const;

/** One instance of a producer group: sends halves, tells their ends, answers what the broker asks. */
export class TransactionProducer {
  private constructor(
    private readonly client: RawClient,
    private readonly load: TransactionLoad,
    private readonly group: string,
  ) {
    client.respond = (request) => {
      if (request.code === RequestCode.CHECK_TRANSACTION_STATE) this.#asked(request);
      return undefined;
    };
  }

  static async connect(port: number, load: TransactionLoad, group: string): Promise<TransactionProducer> {
    const client = await RawClient.connect(`127.0.0.1:${port}`);
    const producer = new TransactionProducer(client, load, group);
    const clientID = `${group}@${client.localPort}`;
    const body = encodeHeartbeat({ clientID, producerDataSet: [{ groupName: group }], consumerDataSet: [] });
    const { code, remark } = await client.ask(RequestCode.HEART_BEAT, { body });
    if (code !== ResponseCode.SUCCESS) throw new Error(`heartbeat of ${group} was answered ${code}: ${remark}`);
    return producer;
  }

  /** As a process that is killed. */
  reset(): void {
    this.client.reset();
  }

  async run(transaction: Transaction): Promise<void> {
    const { sequence, queueId, plan } = transaction;
    const { topic } = this.load.shape;
    const properties = propertyText({
      UNIQ_KEY: `${sequence}`,
      WAIT: 'true',
      TRAN_MSG: 'true',
      PGROUP: this.group,
    });
    const body = this.load.bodies.make(0, sequence);
    // Its age decides when the broker asks.
    const bornTimestamp = nowMs();
    const sysFlag = SysFlag.TRANSACTION_PREPARED;
    const wish = { topic, queueId, properties, body, producerGroup: this.group, sysFlag, bornTimestamp };
    const answer = await send(this.client, wish).catch(() => undefined);
    if (answer === undefined) return void (transaction.half = 'unknown');
    if (answer.code !== ResponseCode.SUCCESS) {
      transaction.half = 'refused';
      return this.load.refused(`half ${sequence}`, answer);
    }
    transaction.half = 'acked';
    this.load.acked++;
    const { msgId, queueOffset } = answer.header;
    const place = {
      tranStateTableOffset: queueOffset,
      commitLogOffset: decodeOffsetMessageId(msgId).physicalOffset,
    };
    transaction.place = place;
    if (plan.tells !== 'nothing') await this.#end(transaction, place, plan.tells, false);
  }

  #asked({ ext, body }: Answer): void {
    const place = decodeCheckTransactionState(ext);
    const [half] = decodeRecords(body);
    const transaction = this.load.at(half === undefined ? undefined : nameOf(half.body)?.sequence);
    if (transaction === undefined || half?.topic !== this.load.shape.topic) {
      this.load.problems.push(`a question about ${half?.topic ?? 'nothing'}, ${body.length} bytes that nobody sent`);
      return;
    }
    const { plan, place: first } = transaction;
    transaction.asked++;
    const knows = plan.ends !== undefined && transaction.asked > plan.unknowns;
    // A broker that is killed meanwhile asks again.
    const end = (at: Place, fromCheck: boolean): void =>
      void this.#end(transaction, at, knows ? plan.ends! : 'unknown', fromCheck);
    if (plan.late && first !== undefined) end(first, false);
    end(place, true);
  }

  async #end(
    transaction: Transaction,
    place: Place,
    type: keyof typeof types,
    fromTransactionCheck: boolean,
  ): Promise<void> {
    if (this.client.isClosed) return;
    const { sequence, plan } = transaction;
    const { tranStateTableOffset, commitLogOffset } = place;
    const ext = encodeEndTransaction({
      producerGroup: this.group,
      tranStateTableOffset,
      commitLogOffset,
      commitOrRollback: types[type],
      fromTransactionCheck,
      msgId: `${sequence}`,
      transactionId: `${sequence}`,
    });
    // 4.9 answers no unknown.
    if (plan.oneway || type === 'unknown') return void this.client.tell(RequestCode.END_TRANSACTION, { ext });
    const answer = await this.client.ask(RequestCode.END_TRANSACTION, { ext }).catch(() => undefined);
    if (answer === undefined) return;
    if (answer.code === ResponseCode.SUCCESS) transaction.promised = true;
    else this.load.refused(`${type} of ${sequence}`, answer);
  }
}
