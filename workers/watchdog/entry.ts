import type { ServiceFactory } from '../../kernel/threads/service.js';
import type { WatchdogBoot } from './contract.js';
import { Watchdog } from './watchdog.js';

const create: ServiceFactory<WatchdogBoot> = (boot, context) => new Watchdog(boot, context);
export default create;
