import assert from 'node:assert/strict';
import { allocate, type AllocationQuestion } from '../../client/consumer/allocation.js';
import type { AllocationRule } from '../../plugins/allocation/contract.js';

const question: AllocationQuestion = {
  group: 'G',
  clientId: 'c1',
  queues: [0, 1, 2].map((queueId) => ({ topic: 'T', brokerName: 'b', queueId })),
  clientIds: ['c1', 'c2'],
};

describe('asking an allocation rule', () => {
  const ask = (body: (...args: Parameters<AllocationRule['allocate']>) => unknown) =>
    allocate({ name: 'MINE', allocate: body as AllocationRule['allocate'] }, question);

  it('gives the queues of the list, also for copies of them', () => {
    const [first, , third] = question.queues;
    assert.deepEqual(
      ask(() => [{ ...third }, { ...first }]).map((queue) => question.queues.indexOf(queue)),
      [2, 0],
    );
    assert.deepEqual(
      ask(() => []),
      [],
    );
  });

  it('names a rule that throws or answers nonsense', () => {
    const [first] = question.queues;
    for (const [body, problem] of [
      [() => assert.fail('boom'), /allocation rule MINE threw boom$/],
      [() => undefined, /MINE answered no list of queues/],
      [() => Promise.reject(new Error('later')), /MINE answered no list of queues/],
      [() => [first, undefined], /MINE answered undefined, no queue/],
      [() => [3], /MINE answered undefined@undefined@undefined, no queue/],
      [() => [first, { ...first, queueId: 9 }], /MINE answered T@b@9, no queue of the topic/],
      [() => [{ ...first, topic: 'X' }], /MINE answered X@b@0, no queue of the topic/],
      [() => [first, { ...first }], /MINE answered T@b@0 twice/],
    ] as const)
      assert.throws(() => ask(body), problem);
  });

  it('hands out lists that the rule may spoil', () => {
    const before = JSON.stringify(question);
    ask((_group, _clientId, queues, clientIds) => {
      (clientIds as string[]).length = 0;
      Object.assign(queues[0]!, { topic: 'X' });
      (queues as unknown[]).reverse();
      return [];
    });
    assert.equal(JSON.stringify(question), before);
  });
});
