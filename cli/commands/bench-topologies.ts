import { type Command, Option } from 'commander';
import type { TopologiesFlags } from '../bench/topologies/settings.js';
import { collect } from '../collect.js';
import { seconds, wholeNumber as whole } from './whole-number.js';

const EXPLANATION = `
For each turn and topology a broker of its own is started on this machine (loopback, free ports, a store that is deleted
afterwards) and gets the same load: produce, batch, consume, latency, transactions, delays. Figures of a broker come from /proc and its runtime information.`;

/** `kernel bench topologies [FILE…]`: which service should run on which thread, here. */
export function addTopologies(bench: Command): void {
  bench
    .command('topologies')
    .description('the same load against every topology in turns: which one suits this machine')
    .argument('[files...]', 'topologies as JSON files, beside dedicated, fused and paired')
    .option('-s, --size <bytes>', 'body size', whole(1, 4 * 1024 * 1024), 128)
    .option('-w, --window <requests>', 'requests in flight on each connection', whole(1, 65_536), 64)
    .option('-c, --connections <count>', 'connections', whole(1, 1000), 1)
    .option('--batch <messages>', 'messages per batch', whole(2, 10_000), 32)
    .option('--rate <messages>', 'messages per second of the phases latency and delays', whole(1, 1_000_000), 5000)
    .addOption(
      new Option('--header <form>', 'form of the request headers').choices(['binary', 'json']).default('binary'),
    )
    .option('--seconds <seconds>', 'measured time of each phase', seconds(0.01, 3600), 5)
    .option('--warm <seconds>', 'load before the measured time', seconds(0, 3600), 2)
    .option('--turns <count>', 'runs of each topology, in turns (A B C A B C)', whole(1, 100), 3)
    .option('--only <phases>', 'some of produce,batch,consume,latency,transactions,delays')
    .addOption(new Option('--flush <type>', 'flushDiskType of the brokers').choices(['ASYNC_FLUSH', 'SYNC_FLUSH']))
    .option('--set <key=value>', 'any option of the brokers, repeatable (see: kernel config print)', collect)
    .option('--store <dir>', "folder for the brokers' stores: on the disk that counts (default: the temporary folder)")
    .option('--json <file>', 'write all figures of all turns to this file')
    .option('--html <file>', 'write a report with charts to this file')
    .addHelpText('after', EXPLANATION)
    .action(async (files: string[], flags: TopologiesFlags) => {
      const [{ benchTopologies }, { topologiesSettings }, { printer }] = await Promise.all([
        import('../bench/topologies/topologies.js'),
        import('../bench/topologies/settings.js'),
        import('../printer.js'),
      ]);
      await benchTopologies(topologiesSettings(files, flags), printer, process.stderr);
    });
}
