import { readJson } from '../../../protocol/bodies/json.js';
import { asObject, list, table, text, textKey, whole, wholeValue } from '../../../protocol/bodies/shape.js';
import type { JsonValue } from '../../../protocol/bodies/json.js';
import { quoted } from '../../../protocol/json-text.js';

/** An own file may be larger than a frame; only a broken one is larger than this. */
const ownFileLimits = { bytesMax: 512 * 1024 * 1024, membersMax: 50_000_000 };

/** 4.9: ConsumerFilterData. */
export interface StoredFilter {
  readonly topic: string;
  readonly group: string;
  readonly expression: string;
  readonly expressionType: string;
  readonly bornMs: number;
  readonly deadMs: number;
  readonly clientVersion: number;
  /** Missing when the file says none. */
  readonly bloom: { readonly bits: number; readonly positions: readonly number[] } | undefined;
}

type Written = StoredFilter & { readonly bloom: NonNullable<StoredFilter['bloom']> };

/** `config/consumerFilter.json` as 4.9 writes it: fastjson's pretty form. */
export function encodeFiltersFile(filters: Iterable<Written>): string {
  const topics = new Map<string, Written[]>();
  for (const filter of filters) {
    const same = topics.get(filter.topic);
    if (same === undefined) topics.set(filter.topic, [filter]);
    else same.push(filter);
  }
  const entries = [...topics].map(([topic, groups]) => ofTopic(topic, groups));
  return `{\n\t"filterDataByTopic":${entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n\t}`}\n}`;
}

function ofTopic(topic: string, groups: readonly Written[]): string {
  const inner = groups.map(ofGroup).join(',\n');
  return `\t\t${quoted(topic)}:{\n\t\t\t"groupFilterData":{\n${inner}\n\t\t\t},\n\t\t\t"topic":${quoted(topic)}\n\t\t}`;
}

function ofGroup(filter: Written): string {
  const { bits, positions } = filter.bloom;
  const members = [
    `"bloomFilterData":{\n\t\t\t\t\t\t"bitNum":${bits},\n\t\t\t\t\t\t"bitPos":[${positions.join(',')}]\n\t\t\t\t\t}`,
    `"bornTime":${filter.bornMs}`,
    `"clientVersion":${filter.clientVersion}`,
    `"consumerGroup":${quoted(filter.group)}`,
    `"dead":${filter.deadMs >= filter.bornMs}`,
    `"deadTime":${filter.deadMs}`,
    `"expression":${quoted(filter.expression)}`,
    `"expressionType":${quoted(filter.expressionType)}`,
    `"topic":${quoted(filter.topic)}`,
  ];
  return `\t\t\t\t${quoted(filter.group)}:{\n\t\t\t\t\t${members.join(',\n\t\t\t\t\t')}\n\t\t\t\t}`;
}

/** Throws when the content is no table of filters. */
export function decodeFiltersFile(content: Buffer): StoredFilter[] {
  const object = asObject(readJson(content, ownFileLimits), 'consumerFilter.json');
  const topics = table(object, 'filterDataByTopic', textKey, (groups, what) =>
    table(asObject(groups, what), 'groupFilterData', textKey, readFilter),
  );
  return [...topics].flatMap(([topic, groups]) => [...groups].map(([group, filter]) => ({ ...filter, topic, group })));
}

function readFilter(value: JsonValue, what: string): Omit<StoredFilter, 'topic' | 'group'> {
  const object = asObject(value, what);
  const bloom = object['bloomFilterData'];
  return {
    expression: text(object, 'expression', ''),
    expressionType: text(object, 'expressionType', ''),
    bornMs: whole(object, 'bornTime'),
    deadMs: whole(object, 'deadTime', 0),
    clientVersion: whole(object, 'clientVersion', 0),
    bloom: bloom === undefined || bloom === null ? undefined : readBloom(bloom, what),
  };
}

function readBloom(value: JsonValue, what: string): NonNullable<StoredFilter['bloom']> {
  const object = asObject(value, `${what}.bloomFilterData`);
  return { bits: whole(object, 'bitNum', 0), positions: list(object, 'bitPos', wholeValue) };
}
