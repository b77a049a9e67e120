import type { ServiceFactory } from '../../kernel/threads/service.js';
import type { ReputBoot } from './contract.js';
import { Dispatcher } from './dispatcher.js';

const create: ServiceFactory<ReputBoot> = (boot, context) => new Dispatcher(boot, context);
export default create;
