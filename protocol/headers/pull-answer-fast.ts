/**
 * The answer to a pull that found something, up to its body, written straight into the connection's outbound buffer. Byte for byte
 * what `encodeResponseHeader` makes of `encodePullMessageResponse`.
 */
import { CommandFlag, LanguageCode, ResponseCode, Version } from '../codes.js';
import { Serialize } from '../command.js';
import { encodePullMessageResponse, type PullMessageResponseHeader } from './pull-message.js';
import { writeDecimal } from './send-answer-fast.js';

type Field = keyof PullMessageResponseHeader;

const REMARK = 'FOUND';
/** More than any answer of this kind needs: fixed parts, four names, four numbers. */
export const PULL_ANSWER_BYTES_MAX = 384;

const sample: PullMessageResponseHeader = { suggestWhichBrokerId: 0, nextBeginOffset: 0, minOffset: 0, maxOffset: 0 };
const orderOf = (form: Serialize): Field[] => Object.keys(encodePullMessageResponse(sample, form)) as Field[];

const jsonNames = orderOf(Serialize.JSON).map((name) => ({ name, text: `"${name}":"` }));
const jsonTail = `"serializeTypeCurrentRPC":"JSON","version":${Version.current}}`;
const binaryNames = orderOf(Serialize.ROCKETMQ).map((name) => {
  const bytes = Buffer.alloc(2 + name.length);
  bytes.writeInt16BE(name.length);
  bytes.write(name, 2, 'latin1');
  return { name, bytes };
});

/** Writes the frame's length words and header at `at`, where PULL_ANSWER_BYTES_MAX bytes are free; returns where the body goes. */
export function writePullAnswer(
  target: Buffer,
  at: number,
  to: { readonly opaque: number; readonly serialize: Serialize },
  fields: PullMessageResponseHeader,
  bodyBytes: number,
): number {
  const end =
    to.serialize === Serialize.JSON
      ? writeJson(target, at + 8, to.opaque, fields)
      : writeBinary(target, at + 8, to.opaque, fields);
  target.writeInt32BE(end - at - 4 + bodyBytes, at);
  target.writeUInt32BE(((to.serialize << 24) | (end - at - 8)) >>> 0, at + 4);
  return end;
}

function writeJson(target: Buffer, at: number, opaque: number, fields: PullMessageResponseHeader): number {
  let text = `{"code":${ResponseCode.SUCCESS},"extFields":{`;
  let comma = '';
  for (const { name, text: before } of jsonNames) {
    text += `${comma}${before}${fields[name]}"`;
    comma = ',';
  }
  text += `},"flag":${CommandFlag.RESPONSE},"language":"JAVA","opaque":${opaque},"remark":"${REMARK}",${jsonTail}`;
  return at + target.write(text, at, 'latin1');
}

function writeBinary(target: Buffer, start: number, opaque: number, fields: PullMessageResponseHeader): number {
  let at = target.writeInt16BE(ResponseCode.SUCCESS, start);
  target[at] = LanguageCode.JAVA;
  at = target.writeInt16BE(Version.current, at + 1);
  at = target.writeInt32BE(opaque, at);
  at = target.writeInt32BE(CommandFlag.RESPONSE, at);
  at = target.writeInt32BE(REMARK.length, at);
  for (let i = 0; i < REMARK.length; i++) target[at++] = REMARK.charCodeAt(i);
  const extAt = at + 4;
  at = extAt;
  for (const { name, bytes } of binaryNames) {
    for (let i = 0; i < bytes.length; i++) target[at + i] = bytes[i] as number;
    const valueAt = at + bytes.length + 4;
    at = writeDecimal(target, fields[name], valueAt);
    target.writeInt32BE(at - valueAt, valueAt - 4);
  }
  target.writeInt32BE(at - extAt, extAt - 4);
  return at;
}
