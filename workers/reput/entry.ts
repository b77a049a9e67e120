import type { ServiceContext, ServiceFactory } from '../../kernel/threads/service.js';
import type { BitmapBoot, ReputBoot } from './contract.js';
import { Dispatcher } from './dispatcher.js';
import { FilterBitmaps, loadFilters } from './filter-bitmaps.js';

const create: ServiceFactory<ReputBoot> = (boot, context) =>
  boot.bitmaps === undefined ? new Dispatcher(boot, context) : withBitmaps(boot, boot.bitmaps, context);
export default create;

async function withBitmaps(boot: ReputBoot, bitmaps: BitmapBoot, context: ServiceContext): Promise<Dispatcher> {
  return new Dispatcher(boot, context, new FilterBitmaps(bitmaps, await loadFilters(bitmaps, context), context));
}
