import { nodeFiles } from '../../store/files/node-files.js';
import { type IndexAnswer, type IndexPlace, type IndexQuery, queryIndex } from '../../store/index/query.js';

export interface QueryIndexArgs {
  readonly place: IndexPlace;
  readonly query: IndexQuery;
}

/** A query of the index on a pool thread: it reads what lies cold, and may wait for what is being written. */
export default function queryIndexTask({ place, query }: QueryIndexArgs): IndexAnswer {
  return queryIndex(nodeFiles, place, query);
}
