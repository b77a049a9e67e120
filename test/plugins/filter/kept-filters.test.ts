import assert from 'node:assert/strict';
import { FilterTable } from '../../../plugins/filter/bitmap/filter-table.js';
import { KeptFilters } from '../../../plugins/filter/bitmap/kept-filters.js';
import { CachingFilterRegistry } from '../../../plugins/filter/registry.js';
import sql92 from '../../../plugins/filter/sql92/index.js';
import { ConfigFile } from '../../../store/metadata/config-file.js';
import { defaultOptions } from '../../support/default-options.js';
import { FakeClock } from '../../support/fake-clock.js';
import { LossyFiles } from '../../support/lossy-files.js';
import { recordingLogger } from '../../support/recording-logger.js';

describe('kept filters', () => {
  it('are on disk when the last save resolves, also when an earlier one was under way', async () => {
    const [logger, clock] = [recordingLogger(), new FakeClock()];
    const options = defaultOptions({ enablePropertyFilter: true });
    const table = new FilterTable(options, clock, logger, new CachingFilterRegistry(logger, clock, [sql92]));
    let written = 0;
    let go!: () => void;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const replace = async (): Promise<void> => {
      await gate;
      written++;
    };
    const file = new ConfigFile({ path: '/store/config/consumerFilter.json' }, new LossyFiles(), replace, logger);
    const kept = new KeptFilters(table, file, options, clock, logger);

    table.register('G', [
      {
        topic: 'T',
        expressionType: 'SQL92',
        subString: 'a = 1',
        subVersion: 1,
        tagsSet: [],
        codeSet: [],
        classFilterMode: false,
      },
    ]);
    const first = kept.save();
    await new Promise(setImmediate);
    const last = kept.save().then(() => assert.equal(written, 1));
    go();
    await Promise.all([first, last]);
  });
});
