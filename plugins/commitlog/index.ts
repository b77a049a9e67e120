import { Lifecycle } from '../../kernel/container.js';
import type { PluginManifest } from '../../kernel/plugin.js';
import { measureDisk } from '../../store/files/disk-usage.js';
import {
  AppendGate,
  LogReader,
  MeasureDisk,
  MessageWriter,
  StoreDisks,
  StoreEnds,
  StoreHost,
  StoreState,
  StoreStatus,
} from './contract.js';
import { Disks } from './disks.js';
import { Gate } from './gate.js';
import { CommitLogReader } from './log-reader.js';
import { CommitLog } from './main.js';
import { GateWriter } from './message-writer.js';
import { NextSegment } from './next-segment.js';
import { OpenStore } from './open-store.js';
import { Status } from './status.js';
import { ServiceEnds } from './store-ends.js';
import { AdvertisedHost } from './store-host.js';

export const manifest: PluginManifest = {
  name: 'commitlog',
  needs: [],
  services: ['commitlog'],
  provides: [StoreState, StoreHost, StoreDisks, AppendGate, MessageWriter, LogReader, StoreStatus, StoreEnds],
  setup(container) {
    const single = { lifecycle: Lifecycle.Singleton };
    container.register(OpenStore, { useClass: OpenStore }, single);
    container.register(StoreState, { useToken: OpenStore });
    container.register(NextSegment, { useClass: NextSegment }, single);
    container.register(StoreHost, { useClass: AdvertisedHost }, single);
    container.register(MeasureDisk, { useValue: measureDisk });
    container.register(Disks, { useClass: Disks }, single);
    container.register(StoreDisks, { useToken: Disks });
    container.register(Gate, { useClass: Gate }, single);
    container.register(AppendGate, { useToken: Gate });
    container.register(CommitLogReader, { useClass: CommitLogReader }, single);
    container.register(LogReader, { useToken: CommitLogReader });
    container.register(MessageWriter, { useClass: GateWriter }, single);
    container.register(StoreStatus, { useClass: Status }, single);
    container.register(ServiceEnds, { useClass: ServiceEnds }, single);
    container.register(StoreEnds, { useToken: ServiceEnds });
  },
  main: CommitLog,
};
