import assert from 'node:assert/strict';
import {
  deadLetterTopicOf,
  groupOf,
  groupProblem,
  isDeadLetterTopic,
  isRetryTopic,
  isSendForbidden,
  isSystemGroup,
  isSystemTopic,
  isValidGroup,
  isValidTopic,
  replyTopicOf,
  retryTopicOf,
  topicProblem,
} from '../../../protocol/message/names.js';

describe('protocol/message/names (B32)', () => {
  it('accepts the topics that 4.9.7 accepts', () => {
    for (const topic of ['T', '%RETRY%G', 'a-b_c|d', 'x'.repeat(127), 'SCHEDULE_TOPIC_XXXX'])
      assert.ok(isValidTopic(topic), topic);
  });

  for (const topic of ['', ' ', '../../x', 'a/b', 'a.b', '主题', 'a b', 'a\u0000', 'a\\b', 'T\n', '\ud83d\ude00']) {
    it(`refuses the topic and group ${JSON.stringify(topic)}`, () => {
      assert.match(topicProblem(topic)!, /blank|illegal characters/);
      assert.match(groupProblem(topic)!, /blank|illegal characters/);
      assert.equal(isValidTopic(topic), false);
      assert.equal(isValidGroup(topic), false);
    });
  }

  it('bounds lengths, groups so that their retry topic still fits', () => {
    assert.match(topicProblem('x'.repeat(128))!, /longer than topic max length/);
    assert.ok(isValidGroup('x'.repeat(120)));
    assert.ok(isValidTopic(retryTopicOf('x'.repeat(120))));
    assert.match(groupProblem('x'.repeat(121))!, /longer than 120/);
    assert.ok(!isValidGroup('x'.repeat(256)));
  });

  it('knows the topics of the system', () => {
    for (const topic of ['TBW102', 'SCHEDULE_TOPIC_XXXX', 'BenchmarkTest', 'rmq_sys_x', 'OFFSET_MOVED_EVENT'])
      assert.ok(isSystemTopic(topic));
    for (const topic of ['T', '%RETRY%G', 'RMQ_SYS_x']) assert.ok(!isSystemTopic(topic));
    assert.deepEqual(['SCHEDULE_TOPIC_XXXX', 'TBW102', 'BenchmarkTest', 'RMQ_SYS_TRACE_TOPIC'].map(isSendForbidden), [
      true,
      false,
      false,
      false,
    ]);
    assert.ok(isSystemGroup('CID_RMQ_SYS_TRANS') && !isSystemGroup('CID'));
  });

  it('makes topics from groups and finds the group again', () => {
    assert.deepEqual(
      [retryTopicOf('G'), deadLetterTopicOf('G'), replyTopicOf('C')],
      ['%RETRY%G', '%DLQ%G', 'C_REPLY_TOPIC'],
    );
    assert.deepEqual([groupOf('%RETRY%G'), groupOf('%DLQ%G'), groupOf('G')], ['G', 'G', undefined]);
    assert.ok(isRetryTopic('%RETRY%G') && isDeadLetterTopic('%DLQ%G') && !isRetryTopic('%DLQ%G'));
  });
});
