import { FilterError } from '../contract.js';

const keywords = ['NOT', 'AND', 'OR', 'BETWEEN', 'IN', 'TRUE', 'FALSE', 'NULL', 'IS'] as const;
const symbols = ['=', '<>', '>', '>=', '<', '<=', '(', ',', ')', '+', '-'] as const;

/** Keywords and symbols are kinds of their own. */
export type TokenKind =
  'name' | 'integer' | 'float' | 'string' | 'end' | (typeof keywords)[number] | (typeof symbols)[number];

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Zero-based position of its first character. */
  readonly position: number;
}

const kindOf = new Map<string, TokenKind>([...keywords, ...symbols].map((kind) => [kind, kind]));

/** A line comment needs its line end: without one, `--` are two minus signs (4.9: SelectorParser.jj, LINE_COMMENT). */
const skipped = /(?:[ \t\n\r\f]|--[^\n\r]*[\n\r]|\/\*[^]*?\*\/)*/y;

const float = /\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+/;
const integer = /0|[1-9]\d*[lL]?/;
const string = /'(?:''|[^'])*'/;
const word = /[A-Za-z_$][\w$]*/;
const symbol = /<>|<=|>=|[=<>(),+-]/;
const lexeme = new RegExp([float, integer, string, word, symbol].map((form) => `(${form.source})`).join('|'), 'y');

/** Cuts tokens when they are asked for: what stands behind a complete expression is never looked at, as in 4.9. */
export class Lexer {
  private at = 0;
  private ahead: Token | undefined;

  constructor(private readonly text: string) {}

  peek(): Token {
    return (this.ahead ??= this.cut());
  }

  take(): Token {
    const token = this.peek();
    this.ahead = undefined;
    return token;
  }

  private cut(): Token {
    skipped.lastIndex = this.at;
    const position = this.at + (skipped.exec(this.text)?.[0].length ?? 0);
    if (position === this.text.length) return { kind: 'end', text: '', position };
    lexeme.lastIndex = position;
    const match = lexeme.exec(this.text);
    if (match === null) throw new FilterError(this.complaint(position), position);
    const text = match[0];
    this.at = position + text.length;
    return { kind: this.kind(match, text), text, position };
  }

  private kind(match: RegExpExecArray, text: string): TokenKind {
    if (match[1] !== undefined) return 'float';
    if (match[2] !== undefined) return 'integer';
    if (match[3] !== undefined) return 'string';
    return kindOf.get(text.toUpperCase()) ?? 'name';
  }

  private complaint(position: number): string {
    if (this.text.startsWith("'", position)) return 'this string has no closing quote';
    if (this.text.startsWith('/*', position)) return 'this comment has no end';
    return `unexpected character ${JSON.stringify(this.text.charAt(position))}`;
  }
}
