import assert from 'node:assert/strict';
import { CallBoard } from '../../../kernel/ring/call-board.js';
import { Watchdog } from '../../../workers/watchdog/watchdog.js';
import { FakeClock } from '../../support/fake-clock.js';
import { recordingLogger } from '../../support/recording-logger.js';

function setUp() {
  const [clock, logger] = [new FakeClock(), recordingLogger()];
  const [main, other] = [new CallBoard(CallBoard.allocate()), new CallBoard(CallBoard.allocate())];
  const threads = [
    { name: 'main', calls: main.memory },
    { name: 'other', calls: other.memory },
  ];
  const watchdog = new Watchdog({ threads, blockedMs: 1000 }, { clock, logger });
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 250) {
      clock.advance(250);
      watchdog.step();
    }
  };
  return { clock, lines: logger.lines, main, other, watchdog, pass };
}

describe('watchdog', () => {
  it('names a call that lasts a second, by thread and name, while it lasts; again after ten seconds', () => {
    const { lines, main, pass } = setUp();
    const [call, next] = [main.call('filter plugin a'), main.call('filter plugin b')];
    pass(2000);
    main.enter(call);
    pass(1000);
    assert.equal(lines.length, 0);
    pass(250);
    assert.equal(lines.length, 1);
    assert.equal(lines[0]?.level, 'error');
    assert.match(lines[0]?.message ?? '', /^filter plugin a blocks thread 'main'/);
    assert.deepEqual(lines[0]?.fields, { thread: 'main', call: 'filter plugin a', forMs: 1000 });
    pass(8750);
    assert.equal(lines.length, 1);
    pass(250);
    assert.equal(lines[1]?.fields['forMs'], 10_000);
    assert.equal(main.leave(), true, 'the thread learns of it');
    main.enter(next);
    assert.equal(main.leave(), false);
  });

  it('names nobody while calls come and go, however many', () => {
    const { lines, main, pass } = setUp();
    const call = main.call('busy');
    for (let turn = 0; turn < 20; turn++) {
      main.enter(call);
      pass(750);
      assert.equal(main.leave(), false);
    }
    assert.equal(lines.length, 0);
  });

  it('watches each thread', () => {
    const { lines, main, other, pass } = setUp();
    main.enter(main.call('a'));
    pass(500);
    other.enter(other.call('b'));
    pass(1500);
    assert.deepEqual(
      lines.map(({ fields }) => [fields['thread'], fields['call']]),
      [
        ['main', 'a'],
        ['other', 'b'],
      ],
    );
  });

  it('blames no call for a time in which the whole process stood still', () => {
    const { clock, lines, main, watchdog, pass } = setUp();
    main.enter(main.call('a'));
    pass(250);
    clock.advance(60_000);
    watchdog.step();
    assert.equal(lines.length, 0);
  });

  it('forgets a named call when it has ended, so that none with the same count is taken for it', () => {
    const { main, pass } = setUp();
    main.enter(main.call('a'));
    pass(1250);
    const count = main.running()?.count;
    assert.equal(main.leave(), true);
    pass(250);
    main.enter(main.call('b'));
    new Int32Array(main.memory)[1] = count!;
    assert.equal(main.leave(), false);
  });

  it('cuts long names at a whole character, and keeps the newest thousand', () => {
    const { main } = setUp();
    main.enter(main.call('主'.repeat(100)));
    assert.equal(main.running()?.name, '主'.repeat(85));
    for (let at = 0; at < 5000; at++) main.call(`filter ${at}`);
    main.enter(main.call('last'));
    assert.equal(main.running()?.name, 'last');
  });
});
