/** Body of 25, 26, 318 and 319: settings as Java properties text. 4.9: MixAll#properties2String, #string2Properties. */
import { ProtocolError } from '../errors.js';

const short: Readonly<Record<string, string>> = { t: '\t', n: '\n', f: '\f', r: '\r' };

/** One `name=value` per line, not escaped, as 4.9 writes its answers. */
export function encodePropertiesText(values: ReadonlyMap<string, string>): Buffer {
  let text = '';
  for (const [name, value] of values) text += `${name}=${value}\n`;
  return Buffer.from(text);
}

/** The whole format of java.util.Properties: comments, `=`, `:` or space between name and value, continued lines, escapes. */
export function decodePropertiesText(body: string | Uint8Array): Map<string, string> {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  const values = new Map<string, string>();
  const lines = text.split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index++) {
    let line = (lines[index] as string).replace(/^[ \t\f]+/, '');
    if (line === '' || line.startsWith('#') || line.startsWith('!')) continue;
    while (endsInContinuation(line) && index + 1 < lines.length) {
      line = line.slice(0, -1) + (lines[++index] as string).replace(/^[ \t\f]+/, '');
    }
    const [name, value] = split(endsInContinuation(line) ? line.slice(0, -1) : line);
    values.set(unescaped(name), unescaped(value));
  }
  return values;
}

function endsInContinuation(line: string): boolean {
  const backslashes = /\\+$/.exec(line);
  return backslashes !== null && backslashes[0].length % 2 === 1;
}

function split(line: string): [string, string] {
  const found = /^((?:\\[^]|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*([^]*)$/.exec(line);
  return found === null ? [line, ''] : [found[1] as string, found[2] as string];
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([^]{0,4})|([^]))/g, (_, hex: string | undefined, letter: string | undefined) => {
    if (hex === undefined) return short[letter as string] ?? (letter as string);
    if (!/^[0-9a-fA-F]{4}$/.test(hex)) throw new ProtocolError('properties text with a bad \\u escape');
    return String.fromCharCode(parseInt(hex, 16));
  });
}
