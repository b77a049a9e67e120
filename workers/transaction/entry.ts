import type { ServiceFactory } from '../../kernel/threads/service.js';
import { Checker } from './checker.js';
import type { TransactionBoot } from './contract.js';

const create: ServiceFactory<TransactionBoot> = (boot, context) => new Checker(boot, context);
export default create;
