/** Characters that fastjson 1.2 escapes in strings; JSON.stringify leaves those from 0x7f on as they are. */
// eslint-disable-next-line no-control-regex
const special = /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// eslint-disable-next-line no-control-regex
const specials = /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};

function escaped(character: string): string {
  return short[character] ?? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A string in double quotes, byte for byte as fastjson writes it. */
export function quoted(text: string): string {
  return special.test(text) ? `"${text.replace(specials, escaped)}"` : `"${text}"`;
}
