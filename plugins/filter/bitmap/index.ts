import { inject, injectable } from '../../../kernel/container.js';
import type { PluginMain, PluginManifest } from '../../../kernel/plugin.js';
import { ConsumerFilters } from './contract.js';
import { FilterTable } from './filter-table.js';
import { FiltersFile } from './filters-file.js';
import { KeptFilters } from './kept-filters.js';

/** 4.9 takes 10 s: what is lost in a crash would be looked at without bits. */
const SAVE_INTERVAL_MS = 1000;

@injectable()
class BitmapMain implements PluginMain {
  #timer: NodeJS.Timeout | undefined;

  constructor(@inject(KeptFilters) private readonly kept: KeptFilters) {}

  start(): void {
    this.kept.load();
    // A failure is logged by the file, which stays dirty: the next round tries again.
    this.#timer = setInterval(() => void this.kept.save().catch(() => undefined), SAVE_INTERVAL_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.kept.save();
  }
}

/** Which messages pass the filters of which groups, noted beside the queues when messages are dispatched, for sparse subscriptions. */
export const manifest: PluginManifest = {
  name: 'bitmap',
  needs: ['commitlog', 'filter'],
  provides: [ConsumerFilters],
  setup(container) {
    container.registerSingleton(FiltersFile);
    container.registerSingleton(FilterTable);
    container.registerSingleton(KeptFilters);
    container.register(ConsumerFilters, { useToken: FilterTable });
  },
  main: BitmapMain,
};
