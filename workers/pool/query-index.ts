import type { StoreFiles } from '../../store/files/contract.js';
import { nodeFiles } from '../../store/files/node-files.js';
import { type IndexAnswer, type IndexPlace, type IndexQuery, queryIndex } from '../../store/index/query.js';

export interface QueryIndexArgs {
  readonly place: IndexPlace;
  readonly query: IndexQuery;
}

/** A query of the index: it reads what lies cold, and may wait for what is being written. */
export default function queryIndexTask({ place, query }: QueryIndexArgs, files: StoreFiles = nodeFiles): IndexAnswer {
  return queryIndex(files, place, query);
}
