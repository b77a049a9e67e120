import ts from 'typescript';
import { lineOf, type Source, walk } from './sources.js';

interface Ban {
  readonly what: string;
  readonly instead: string;
  readonly except: (path: string) => boolean;
  readonly finds: (node: ts.Node) => boolean;
}

const nowhere = (): boolean => false;
const isTest = (path: string): boolean => path.startsWith('test/');

const bans: readonly Ban[] = [
  {
    what: 'Date.now',
    instead: 'a Clock by constructor',
    except: (path) => path === 'kernel/base/clock.ts',
    finds: (node) => ts.isPropertyAccessExpression(node) && node.getText() === 'Date.now',
  },
  {
    what: 'new Date()',
    instead: 'new Date(clock.wallMs())',
    except: nowhere,
    finds: (node) =>
      ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0,
  },
  {
    what: "tsyringe's global container",
    instead: 'the child container that setup gets',
    except: (path) => path === 'kernel/container.ts',
    finds: (node) =>
      ts.isImportSpecifier(node) &&
      (node.propertyName ?? node.name).text === 'container' &&
      node.parent.parent.parent.moduleSpecifier.getText().includes('tsyringe'),
  },
  {
    what: 'console',
    instead: 'a Logger by constructor, or cli/printer.ts in commands',
    except: nowhere,
    finds: (node) => ts.isPropertyAccessExpression(node) && node.expression.getText() === 'console',
  },
  {
    what: 'process.exit',
    instead: 'a thrown KernelError with an exit code',
    except: (path) =>
      /^cli\/|^kernel\/(signals|end-process)\.ts$|^kernel\/threads\/(host-entry|.*supervis.*)\.ts$|^test\//.test(path),
    finds: (node) => ts.isPropertyAccessExpression(node) && node.getText() === 'process.exit',
  },
  {
    what: 'a sleep',
    instead: 'until() of test/support/until.ts, with a condition',
    except: (path) => !isTest(path) || path === 'test/support/until.ts',
    finds: isSleep,
  },
];

/** Notes to oneself belong into an issue. Written so that this file does not find itself. */
const LEFT_OVER = new RegExp(`\\b(${'TO' + 'DO'}|${'FIX' + 'ME'})\\b`);

/** Words and calls that have a better replacement, each with it. */
export function bannedWords(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => [...bannedCalls(source), ...leftOvers(source)]);
}

function bannedCalls({ path, tree }: Source): string[] {
  const here = bans.filter((ban) => !ban.except(path));
  const found: string[] = [];
  walk(tree, (node) => {
    for (const ban of here)
      if (ban.finds(node)) found.push(`${path}:${lineOf(tree, node)}: ${ban.what}; use ${ban.instead}`);
  });
  return found;
}

function leftOvers({ path, text }: Source): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      LEFT_OVER.test(line) ? [`${path}:${index + 1}: a note to oneself; write an issue`] : [],
    );
}

/** `setTimeout(resolve, …)` in a promise that does nothing else, or the promise version of it. */
function isSleep(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) return node.moduleSpecifier.getText().includes('timers/promises');
  if (!ts.isNewExpression(node) || node.expression.getText() !== 'Promise') return false;
  const executor = node.arguments?.[0];
  if (executor === undefined || !ts.isArrowFunction(executor)) return false;
  const resolve = executor.parameters[0]?.name.getText();
  const body = ts.isBlock(executor.body) ? executor.body.statements : [executor.body];
  return body.length === 1 && new RegExp(`^(void )?setTimeout\\(\\s*${resolve}\\b`).test(body[0]!.getText());
}
