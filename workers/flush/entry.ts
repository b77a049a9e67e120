import type { ServiceFactory } from '../../kernel/threads/service.js';
import type { FlushBoot } from './contract.js';
import { Flusher } from './flusher.js';

const create: ServiceFactory<FlushBoot> = (boot, context) => new Flusher(boot, context);
export default create;
