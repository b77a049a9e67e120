import type { ServiceFactory } from '../../kernel/threads/service.js';
import { Appender } from './appender.js';
import type { CommitLogBoot } from './contract.js';

const create: ServiceFactory<CommitLogBoot> = (boot, context) => new Appender(boot, context);
export default create;
