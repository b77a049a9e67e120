import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { CleanHandlers } from './clean-handlers.js';
import { RecordKeepers } from './contract.js';
import { DiskWatch } from './disk-watch.js';
import { Keepers } from './keepers.js';
import { LogCleaner } from './log-cleaner.js';
import { Retention } from './main.js';
import { MemoryRoom } from './memory-room.js';
import { Pause } from './pause.js';
import { QueueCleaner } from './queue-cleaner.js';

/** Needs flush and reput so that it stops before them: nothing goes that they have not brought to disk. */
export const manifest: PluginManifest = {
  name: 'retention',
  needs: ['commitlog', 'flush', 'reput', 'remoting', 'topics'],
  provides: [RecordKeepers],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    for (const part of [CleanHandlers, DiskWatch, Keepers, MemoryRoom, Pause, QueueCleaner, LogCleaner, Retention])
      container.register<unknown>(part, { useClass: part as new (...args: never[]) => unknown }, single);
    container.register(RecordKeepers, { useToken: Keepers });
  },
  main: Retention,
};
