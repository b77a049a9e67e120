import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { Decided, Halves } from './contract.js';
import { Decisions } from './decisions.js';
import { EndTransactions } from './end-transactions.js';
import { FinalMessages } from './final-message.js';
import { HalfReader } from './half-reader.js';
import { HalfTopic } from './halves.js';
import { Transaction } from './main.js';
import { Ops } from './ops.js';

export const manifest: PluginManifest = {
  name: 'transaction',
  needs: ['remoting', 'commitlog', 'topics', 'schedule'],
  provides: [Halves, Decided],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(HalfTopic, { useClass: HalfTopic }, single);
    container.register(Halves, { useToken: HalfTopic });
    container.register(Decisions, { useClass: Decisions }, single);
    container.register(Decided, { useToken: Decisions });
    container.register(HalfReader, { useClass: HalfReader }, single);
    container.register(FinalMessages, { useClass: FinalMessages }, single);
    container.register(Ops, { useClass: Ops }, single);
    container.register(EndTransactions, { useClass: EndTransactions }, single);
    container.register(Transaction, { useClass: Transaction }, single);
  },
  main: Transaction,
};
