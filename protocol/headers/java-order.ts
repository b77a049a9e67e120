/**
 * The order in which 4.9 writes header fields. RemotingCommand#makeCustomHeaderToNet goes through a HashSet of reflected fields
 * and puts what is not null into a HashMap, whose own order is then written. Both are fixed by the hashes of the names, so our
 * headers come out byte for byte like the original's. Nobody may rely on the order; it costs nothing and makes captures comparable.
 */
import { javaHash } from '../message/hash.js';

const PACKAGE = 'org.apache.rocketmq.common.';
/** A Java HashMap starts with 16 buckets and doubles when more than three quarters are used. */
const FIRST_BUCKETS = 16;

/** A reflected field: its name and the class that declares it, below `org.apache.rocketmq.common.`. */
export interface JavaField {
  readonly name: string;
  readonly declaredIn: string;
}

function bucketsFor(entries: number): number {
  let buckets = FIRST_BUCKETS;
  while (entries > buckets * 0.75) buckets *= 2;
  return buckets;
}

/** Sorted by bucket; within a bucket entries stay in the order in which they were put. */
function inBucketOrder<T>(entries: readonly T[], buckets: number, hashOf: (entry: T) => number): T[] {
  const bucketOf = (entry: T): number => {
    const hash = hashOf(entry);
    return (hash ^ (hash >>> 16)) & (buckets - 1);
  };
  return entries
    .map((entry) => ({ entry, bucket: bucketOf(entry) }))
    .sort((a, b) => a.bucket - b.bucket)
    .map(({ entry }) => entry);
}

/** Order of a HashSet<Field>; `java.lang.reflect.Field#hashCode` mixes the class name and the field name. */
export function reflectedOrder(fields: readonly JavaField[]): string[] {
  const hashOf = (field: JavaField): number => javaHash(PACKAGE + field.declaredIn) ^ javaHash(field.name);
  return inBucketOrder(fields, bucketsFor(fields.length), hashOf).map((field) => field.name);
}

/** Order of a HashMap<String, ?> with `size` entries of these names, put in the order given. */
export function hashMapOrder(names: readonly string[], size = names.length): string[] {
  return inBucketOrder(names, bucketsFor(size), javaHash);
}
