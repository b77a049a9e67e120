import ts from 'typescript';
import { lineOf, type Source, walk } from './sources.js';

export const FILE_LINES_MAX = 400;
export const FUNCTION_LINES_MAX = 70;

/** Files and functions that are too long to be taken in at once. */
export function sizeViolations(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => [...tooLongFile(source), ...tooLongFunctions(source)]);
}

function tooLongFile({ path, text }: Source): string[] {
  const lines = text.replace(/\n$/, '').split('\n').length;
  return lines > FILE_LINES_MAX ? [`${path}: ${lines} lines, at most ${FILE_LINES_MAX}`] : [];
}

function tooLongFunctions({ path, tree }: Source): string[] {
  const found: string[] = [];
  walk(tree, (node) => {
    if (!isFunction(node) || node.body === undefined || isSuite(node)) return;
    const first = lineOf(tree, node);
    const lines = tree.getLineAndCharacterOfPosition(node.end).line + 2 - first;
    if (lines > FUNCTION_LINES_MAX)
      found.push(`${path}:${first}: a function of ${lines} lines, at most ${FUNCTION_LINES_MAX}`);
  });
  return found;
}

function isFunction(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isArrowFunction(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isConstructorDeclaration(node) ||
    ts.isAccessor(node)
  );
}

/** What `describe` and its kind get is a list of tests, no function to be read at once. */
function isSuite(node: ts.Node): boolean {
  const call = node.parent;
  return ts.isCallExpression(call) && /^describe\b|^context\b/.test(call.expression.getText());
}
