import { cpus, totalmem } from 'node:os';

/** What the figures were measured on. */
export interface Machine {
  readonly cpus: number;
  readonly cpuModel: string;
  readonly memoryBytes: number;
  readonly platform: string;
  readonly node: string;
}

export function machineOf(): Machine {
  const processors = cpus();
  return {
    cpus: processors.length,
    cpuModel: processors[0]?.model.trim() ?? 'unknown',
    memoryBytes: totalmem(),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  };
}

export function machineText({ cpus: count, cpuModel, memoryBytes, platform, node }: Machine): string {
  return `${count} × ${cpuModel}, ${(memoryBytes / 2 ** 30).toFixed(0)} GiB, ${platform}, node ${node}`;
}
