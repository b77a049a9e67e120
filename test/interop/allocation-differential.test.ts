import assert from 'node:assert/strict';
import { AllocationGenerator, rowOf, ruleNames, type AllocationCase, type QueueRow } from './allocation-cases.js';
import { requireJava, runJava } from './support/java.js';

const casesPerRule = Number(process.env['ALLOCATION_CASES'] ?? 2000);
const seed = Number(process.env['ALLOCATION_SEED'] ?? 497);
const timeoutMs = 120_000;

interface Answer {
  readonly name: string;
  readonly queues?: readonly QueueRow[];
  readonly refused?: string;
}

function ours({ rule, clientId, queues, clientIds }: AllocationCase): readonly QueueRow[] | 'REFUSED' {
  try {
    return rule.allocate('group', clientId, queues, clientIds).map(rowOf);
  } catch (error) {
    assert.ok(error instanceof RangeError, String(error));
    return 'REFUSED';
  }
}

/** 4.9's config strategy answers its whole list for every topic; ours leaves out what the topic has not. */
function theirs({ queues }: AllocationCase, answer: Answer): readonly QueueRow[] | 'REFUSED' {
  if (answer.queues === undefined) return 'REFUSED';
  if (answer.name !== 'CONFIG') return answer.queues;
  const known = new Set(queues.map((queue) => JSON.stringify(rowOf(queue))));
  return answer.queues.filter((row) => known.has(JSON.stringify(row)));
}

describe('allocation rules against the real client', function () {
  before(() => requireJava());

  it(`share out as 4.9.7 does, ${casesPerRule} cases each, seed ${seed}`, async function () {
    this.timeout(timeoutMs);
    const generator = new AllocationGenerator(seed);
    const cases = ruleNames.flatMap((name) => Array.from({ length: casesPerRule }, () => generator.next(name)));
    const input = cases.map(({ strategy, clientId, queues, clientIds }) =>
      JSON.stringify({ strategy, clientId, all: queues.map(rowOf), clientIds }),
    );
    const java = await runJava('mqk.AllocateOracle', [], { input: input.join('\n'), timeoutMs });
    assert.equal(java.code, 0, java.stderr);
    const answers = java.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Answer);
    assert.equal(answers.length, cases.length);

    const differences: string[] = [];
    const outcomes = new Map<string, { refused: number; nothing: number; some: number }>();
    for (const [at, one] of cases.entries()) {
      const answer = answers[at]!;
      const [mine, wanted] = [ours(one), theirs(one, answer)];
      if (JSON.stringify(mine) !== JSON.stringify(wanted) || one.rule.name !== answer.name)
        differences.push(
          `${input[at]!}: ours ${one.rule.name} ${JSON.stringify(mine)}, theirs ${JSON.stringify(answer)}`,
        );
      const counts = outcomes.get(one.strategy.rule) ?? { refused: 0, nothing: 0, some: 0 };
      counts[mine === 'REFUSED' ? 'refused' : mine.length === 0 ? 'nothing' : 'some']++;
      outcomes.set(one.strategy.rule, counts);
    }
    assert.deepEqual(differences.slice(0, 5), [], `${differences.length} differences`);

    // The generator is worth something only while it reaches all outcomes; config refuses nothing.
    for (const [name, { refused, nothing, some }] of outcomes) {
      assert.ok(
        some > casesPerRule / 4 && nothing > casesPerRule / 50,
        `${name}: ${some} with queues, ${nothing} without`,
      );
      if (name !== 'config') assert.ok(refused > casesPerRule / 50, `${name}: ${refused} refused`);
    }
  });
});
