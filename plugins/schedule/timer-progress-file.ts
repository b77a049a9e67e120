import { join } from 'node:path';
import { inject, injectable } from '../../kernel/container.js';
import { Pool } from '../../kernel/threads/contract.js';
import { Logger, Options } from '../../kernel/tokens.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { ConfigFile } from '../../store/metadata/config-file.js';
import { replaceFileOn } from '../../workers/pool/handle.js';

/** `config/timerProgress.json` of this broker's store. */
@injectable()
export class TimerProgressFile extends ConfigFile {
  constructor(@inject(Options) options: Options, @inject(Pool) pool: Pool, @inject(Logger) logger: Logger) {
    const path = options.memory ? undefined : join(options.storePathRootDir, 'config', 'timerProgress.json');
    super({ path }, nodeFiles, replaceFileOn(pool), logger);
  }
}
