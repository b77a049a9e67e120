/** One `key=value` of a Java properties file. */
export interface PropertyEntry {
  readonly key: string;
  readonly value: string;
  /** Line, counted from 1, on which the entry begins. */
  readonly line: number;
}

/** What is wrong with a properties file, and where. */
export class PropertiesError extends Error {
  override readonly name = 'PropertiesError';
  constructor(
    readonly problem: string,
    readonly line: number,
  ) {
    super(`line ${line}: ${problem}`);
  }
}

/**
 * Reads the format of `java.util.Properties#load`: `#` and `!` comments, `=`, `:` or blanks after the key, a backslash at the
 * end of a line continues it, `\t \n \r \f \uXXXX` and a dropped backslash elsewhere. Entries come in the order of the file; of
 * two with the same key Java keeps the last. Throws PropertiesError.
 */
export function parseProperties(content: string): PropertyEntry[] {
  const entries: PropertyEntry[] = [];
  const lines = content.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    let logical = withoutIndent(lines[index]!);
    // A backslash alone is no begin of an entry: in Java too, the next line may then be a comment.
    if (logical === '' || logical === '\\' || logical.startsWith('#') || logical.startsWith('!')) continue;
    while (endsInBackslash(logical)) {
      logical = logical.slice(0, -1);
      if (index + 1 >= lines.length) break;
      logical += withoutIndent(lines[++index]!);
    }
    entries.push({ ...splitEntry(logical, line), line });
  }
  return entries;
}

/** The bytes of a settings file as text: UTF-8, or ISO-8859-1 (as Java reads them) when they are not valid UTF-8. */
export function decodeProperties(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return Buffer.from(bytes).toString('latin1');
  }
}

function withoutIndent(line: string): string {
  return line.replace(/^[ \t\f]+/, '');
}

/** An odd number of backslashes: the last one escapes the end of the line. */
function endsInBackslash(line: string): boolean {
  return /\\*$/.exec(line)![0].length % 2 === 1;
}

function splitEntry(logical: string, line: number): { key: string; value: string } {
  let keyEnd = 0;
  while (keyEnd < logical.length && !/[=: \t\f]/.test(logical[keyEnd]!)) keyEnd += logical[keyEnd] === '\\' ? 2 : 1;
  const separator = /^[ \t\f]*[=:]?[ \t\f]*/.exec(logical.slice(keyEnd))![0];
  return {
    key: unescape(logical.slice(0, keyEnd), line),
    value: unescape(logical.slice(keyEnd + separator.length), line),
  };
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

function unescape(text: string, line: number): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(u[\s\S]{0,4}|[\s\S]|$)/g, (_, escape: string) => {
    if (!escape.startsWith('u')) return ESCAPES[escape] ?? escape;
    if (!/^u[0-9a-fA-F]{4}$/.test(escape))
      throw new PropertiesError(`\\${escape} is not \\u and four hex digits`, line);
    return String.fromCharCode(parseInt(escape.slice(1), 16));
  });
}
