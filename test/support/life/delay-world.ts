import type { PluginMain } from '../../../kernel/plugin.js';
import { Watermark } from '../../../kernel/ring/watermarks.js';
import { DelayOffsetsFile } from '../../../plugins/schedule/delay-offsets-file.js';
import { DelayOffsets } from '../../../plugins/schedule/delay-offsets.js';
import { Delays } from '../../../plugins/schedule/contract.js';
import { TimerFile } from '../../../plugins/schedule/timer-file.js';
import { TimerProgressFile } from '../../../plugins/schedule/timer-progress-file.js';
import { RecordKeepers } from '../../../plugins/retention/contract.js';
import { manifest as schedule } from '../../../plugins/schedule/index.js';
import { decodeTimerProgress } from '../../../store/schedule/timer-progress.js';
import { ConfigFile } from '../../../store/metadata/config-file.js';
import { LossyFiles, PowerCut } from '../lossy-files.js';
import type { Loss } from '../lossy-inode.js';
import { recordingLogger } from '../recording-logger.js';
import { SeededRandom } from '../seeded-random.js';
import { BrokerLife, STORE } from './broker-life.js';
import { DelayLedger } from './delay-ledger.js';
import { DelayScript } from './delay-script.js';
import type { Ending } from './life-check.js';
import { LifeClock } from './life-clock.js';

export const LEVELS = { text: '1s 2s 5s', ms: [1000, 2000, 5000] } as const;
const TIMERS_FILE = `${STORE}/config/timerProgress.json`;
const PROGRESS_FILE = `${STORE}/config/delayOffset.json`;

/** Lives of one disk, in which delayed messages are sent and delivered; nothing runs by itself. */
export class DelayWorld {
  readonly random: SeededRandom;
  readonly clock = new LifeClock();
  readonly ledger: DelayLedger;
  files: LossyFiles;
  #before: Ending = 'stop';

  constructor(
    seed: number,
    private readonly sync: boolean,
  ) {
    this.random = new SeededRandom(seed);
    this.files = new LossyFiles(this.random);
    this.ledger = new DelayLedger(LEVELS.ms, sync);
  }

  /** Starts, checks, plays so many actions, ends as said, or earlier when the disk's power is cut. */
  async live(actions: number, ending: Ending, loss: Loss): Promise<Ending> {
    let done = ending;
    try {
      const { life, script } = await this.#start();
      await script.play(actions);
      if (ending === 'stop') await stop(life);
      if (this.files.isOff) throw new PowerCut('the machine went off');
    } catch (error) {
      if (!this.files.isOff) throw error;
      done = 'power cut';
    }
    this.#end(done, loss);
    return done;
  }

  /** A life in which everything is delivered, and one in which nothing is any more. */
  async settle(): Promise<void> {
    const { life, script } = await this.#start();
    await script.deliverAll();
    await stop(life);
    this.#end('stop', 'nothing');
    const last = await this.#start();
    this.ledger.checkAllDelivered();
    const end = last.life.mark(Watermark.appended);
    await last.script.deliverAll();
    if (last.life.mark(Watermark.appended) !== end) throw new Error('after a stop something was delivered again');
    await stop(last.life);
    this.#end('stop', 'nothing');
  }

  async #start(): Promise<{ life: BrokerLife; script: DelayScript }> {
    const { files, clock, sync, random, ledger } = this;
    const timers = files.exists(TIMERS_FILE) ? decodeTimerProgress(files.readAll(TIMERS_FILE)) : undefined;
    const replace = async (path: string, content: string, keepBackup: boolean): Promise<void> => {
      files.replace(path, content, keepBackup);
    };
    const life = await BrokerLife.start({
      ...{ files, clock, sync, replace, more: [schedule], options: { messageDelayLevel: LEVELS.text } },
      prepare(container) {
        const file = new ConfigFile({ path: PROGRESS_FILE }, files, replace, recordingLogger());
        container.registerInstance(DelayOffsetsFile, file);
        const timerFile = new ConfigFile({ path: TIMERS_FILE }, files, replace, recordingLogger());
        container.registerInstance(TimerProgressFile, timerFile);
        container.registerInstance<RecordKeepers>(RecordKeepers, { add: () => undefined });
      },
    });
    if (files.isOff) throw new PowerCut('the machine went off');
    ledger.recovered(files, life.mark(Watermark.appended), this.#before);
    ledger.checkProgress(life.get<Delays>(Delays).offsets(), timers);
    const script = new DelayScript({ life, files, clock, random, ledger, save: () => save(life) });
    await life.threads.callsOf<{ open(): void }>('schedule').open();
    return { life, script };
  }

  #end(done: Ending, loss: Loss): void {
    this.#before = done;
    this.files = done === 'power cut' ? this.files.restart(loss) : this.files.killed();
  }
}

async function save(life: BrokerLife): Promise<void> {
  await life.get(DelayOffsets).saveSynced();
  await life.get(TimerFile).saveSynced();
}

/** As an end by SIGTERM. */
async function stop(life: BrokerLife): Promise<void> {
  const closed = (life.main(schedule.name) as Required<PluginMain>).close();
  life.gate.publish();
  for (let turn = 0; turn < 3; turn++) {
    life.threads.rest('commitlog');
    life.threads.step('schedule');
  }
  await closed;
  await life.stop();
}
