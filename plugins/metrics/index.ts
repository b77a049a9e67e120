import { inject, injectable } from '../../kernel/container.js';
import type { PluginMain, PluginManifest } from '../../kernel/plugin.js';
import { Counters, GroupRates } from './contract.js';
import { PullRates, SAMPLE_MS } from './group-rates.js';

@injectable()
class MetricsMain implements PluginMain {
  #timer: NodeJS.Timeout | undefined;

  constructor(@inject(PullRates) private readonly rates: PullRates) {}

  start(): void {
    this.#timer = setInterval(() => this.rates.sample(), SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

export const manifest: PluginManifest = {
  name: 'metrics',
  needs: [],
  provides: [Counters, GroupRates],
  setup(container) {
    const zero = { putMessages: 0, putBytes: 0, putRefused: 0, getMessages: 0, getBytes: 0, getFound: 0, getMissed: 0 };
    container.registerInstance(Counters, zero);
    container.registerSingleton(PullRates);
    container.register(GroupRates, { useToken: PullRates });
  },
  main: MetricsMain,
};
