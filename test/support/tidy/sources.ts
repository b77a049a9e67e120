import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

export interface Import {
  /** Path from the root, with .ts; or the package's name when it comes from outside. */
  readonly target: string;
  readonly inside: boolean;
  readonly typesOnly: boolean;
  readonly line: number;
}

export interface Source {
  /** From the root, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

const SKIPPED = new Set(['node_modules', 'dist', 'coverage']);

/** Every TypeScript file under the root; folders that begin with a dot, and what builds leave, are skipped. */
export function readSources(root: string): Source[] {
  return filesUnder(root, '')
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => sourceOf(path, readFileSync(join(root, path), 'utf8')));
}

function filesUnder(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || SKIPPED.has(entry.name)) return [];
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(root, path) : [path];
  });
}

export function sourceOf(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  return { path, text, tree, imports: importsOf(path, tree) };
}

function importsOf(path: string, tree: ts.SourceFile): Import[] {
  const found: Import[] = [];
  walk(tree, (node) => {
    const specifier = specifierOf(node);
    if (specifier === undefined) return;
    const inside = specifier.text.startsWith('.');
    found.push({
      target: inside ? posix.join(posix.dirname(path), specifier.text).replace(/\.js$/, '.ts') : specifier.text,
      inside,
      typesOnly: isTypesOnly(node),
      line: lineOf(tree, node),
    });
  });
  return found;
}

/** What a node imports: import and export declarations, `import()` of a literal, import types, `new URL('./x.js', import.meta.url)`. */
function specifierOf(node: ts.Node): ts.StringLiteralLike | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return literal(node.moduleSpecifier);
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? literal(node.argument.literal) : undefined;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    return literal(node.arguments[0]);
  if (
    ts.isNewExpression(node) &&
    node.expression.getText() === 'URL' &&
    node.arguments?.[1]?.getText() === 'import.meta.url'
  ) {
    const path = literal(node.arguments[0]);
    return path?.text.endsWith('.js') === true ? path : undefined;
  }
  return undefined;
}

function literal(node: ts.Node | undefined): ts.StringLiteralLike | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node : undefined;
}

function isTypesOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  if (!ts.isImportDeclaration(node) || node.importClause === undefined) return false;
  const { isTypeOnly, name, namedBindings } = node.importClause;
  if (isTypeOnly) return true;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.every((element) => element.isTypeOnly);
}

export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** Counted from 1. */
export function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}
