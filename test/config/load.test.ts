import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KernelError } from '../../kernel/base/errors.js';
import { loadOptions, type Sources } from '../../config/load.js';
import { fromSetFlags, known } from '../../config/sources.js';
import { testMachine } from './machine.js';

describe('config/load', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mqkernel-config-'));
  after(() => rmSync(dir, { recursive: true }));

  function file(content: string): string {
    const path = join(dir, 'broker.conf');
    writeFileSync(path, content);
    return path;
  }

  function load(sources: Sources): ReturnType<typeof loadOptions> {
    return loadOptions({ machine: testMachine(), ...sources });
  }

  async function failure(sources: Sources): Promise<string> {
    const error = await load(sources).then(
      () => assert.fail('no error'),
      (error: unknown) => error,
    );
    assert.ok(error instanceof KernelError, String(error));
    assert.equal(error.exitCode, 2);
    return error.message;
  }

  it("has RocketMQ's defaults when nothing is set", async () => {
    const { options, notices } = await load({});
    assert.deepEqual(notices, []);
    assert.equal(options.role, 'all');
    assert.equal(options.listenPort, 10_911);
    assert.equal(options.haListenPort, 10_912);
    assert.equal(options.namesrvAddr, '127.0.0.1:9876');
    assert.equal(options.brokerName, 'host-a');
    assert.equal(options.brokerClusterName, 'DefaultCluster');
    assert.equal(options.brokerIP1, '10.1.2.3');
    assert.equal(options.storePathRootDir, '/home/someone/store');
    assert.equal(options.storePathCommitLog, '/home/someone/store/commitlog');
    assert.equal(options.flushDiskType, 'ASYNC_FLUSH');
    assert.equal(options.totalMemoryBytes, 8_000_000_000);
    assert.equal(options.mappedFileSizeConsumeQueue, 6_000_000);
  });

  it('prefers flags to the environment to the file to the default', async () => {
    const { options, origins } = await load({
      file: file('regionId=file\nbrokerName=file\nmaxDelayTime=1\nsyncFlushTimeout=7'),
      env: { MQKERNEL_REGION_ID: 'env', MQKERNEL_brokerName: 'env' },
      assignments: [known('regionId', 'flag', '--set')],
    });
    assert.equal(options.regionId, 'flag');
    assert.equal(options.brokerName, 'env');
    assert.equal(options.syncFlushTimeout, 7);
    assert.equal(options.slaveTimeout, 3000);
    assert.equal(origins.get('regionId'), '--set');
    assert.equal(origins.get('brokerName'), 'MQKERNEL_brokerName');
    assert.ok(origins.get('syncFlushTimeout')?.endsWith('broker.conf:4'));
    assert.equal(origins.has('slaveTimeout'), false);
  });

  it("reads the original's sample file without a word", async () => {
    const { options, notices } = await load({
      file: file(
        'brokerClusterName = DefaultCluster\nbrokerName = broker-a\nbrokerId = 0\ndeleteWhen = 04\nfileReservedTime = 72\n' +
          'brokerRole = ASYNC_MASTER\nflushDiskType = ASYNC_FLUSH\n',
      ),
    });
    assert.deepEqual(notices, []);
    assert.equal(options.brokerName, 'broker-a');
  });

  it('takes the last of two lines with one key, as Java does', async () => {
    const { options } = await load({ file: file('brokerName=a\nbrokerName=b') });
    assert.equal(options.brokerName, 'b');
  });

  it('warns of an unknown key in a file with its place and the nearest name', async () => {
    const { notices } = await load({ file: file('\nbrokreName=x\nqqqqqqqqqqqq=y') });
    assert.equal(notices.length, 2);
    assert.equal(notices[0]!.level, 'warn');
    assert.match(notices[0]!.message, /broker\.conf:2: unknown key brokreName is ignored; did you mean brokerName\?$/);
    assert.match(notices[1]!.message, /broker\.conf:3: unknown key qqqqqqqqqqqq is ignored$/);
  });

  it('warns of an unknown environment variable, and says that ROCKETMQ_HOME is not used', async () => {
    const { notices } = await load({ env: { MQKERNEL_LISTEN_PROT: '1', ROCKETMQ_HOME: '/opt' } });
    assert.match(notices[0]!.message, /ROCKETMQ_HOME is not used/);
    assert.match(notices[1]!.message, /MQKERNEL_LISTEN_PROT.*did you mean listenPort\?/);
  });

  it('refuses an unknown key that was typed on the command line', () => {
    assert.throws(() => fromSetFlags(['brokreName=x']), /did you mean brokerName\?/);
    assert.throws(() => fromSetFlags(['brokerName']), /not of the form key=value/);
    assert.deepEqual(fromSetFlags(['brokerName=a=b']), [
      { name: 'brokerName', raw: 'a=b', where: '--set brokerName=a=b' },
    ]);
  });

  for (const [line, problem] of [
    ['listenPort=abc', /listenPort \(.*broker\.conf:2\): "abc" is not a whole number/],
    ['listenPort=1.5', /"1.5" is not a whole number/],
    ['listenPort=', /"" is not a whole number/],
    ['listenPort=65536', /65536 is above 65535 port/],
    ['syncFlushTimeout=0', /0 is below 1 ms/],
    ['autoCreateTopicEnable=yes', /"yes" is neither true nor false/],
    ['flushDiskType=SYNC_FLUSHH', /is none of ASYNC_FLUSH, SYNC_FLUSH; did you mean SYNC_FLUSH\?/],
    ['aclEnable=true', /aclEnable .* true is refused: access control is not there yet/],
    ['brokerRole=SLAVE', /brokerRole .* SLAVE is refused/],
    ['brokerName=a\\u0000b', /control character/],
    ['namesrvAddr=10.0.0.1', /namesrvAddr .*: "10.0.0.1" is not host:port/],
    ['namesrvAddr=a:1;b:99999', /"b:99999" is not host:port/],
  ] as const) {
    it(`refuses ${line} naming file and line`, async () => {
      const message = await failure({ file: file(`# first\n${line}\n`) });
      assert.match(message, problem);
      assert.match(message, /broker\.conf:2/);
    });
  }

  it('finds an error also in a value that a stronger source replaces', async () => {
    const message = await failure({
      file: file('listenPort=abc'),
      assignments: [known('listenPort', '1', '--listen-port')],
    });
    assert.match(message, /"abc"/);
  });

  it('names a settings file that cannot be read', async () => {
    assert.match(await failure({ file: join(dir, 'missing.conf') }), /missing\.conf: there is no such file/);
    assert.match(await failure({ file: dir }), /it is a folder/);
    assert.match(await failure({ file: file('a=\\u00') }), /broker\.conf:1: /);
  });

  it('says once, by reason, what was set without effect', async () => {
    const { notices } = await load({
      file: file(
        'sendMessageThreadPoolNums=99\npullMessageThreadPoolNums=98\ntransientStorePoolEnable=true\nmaxDelayTime=40',
      ),
    });
    assert.equal(notices.length, 2);
    assert.match(notices[0]!.message, /^without effect: sendMessageThreadPoolNums, pullMessageThreadPoolNums: /);
    assert.match(notices[1]!.message, /^without effect: transientStorePoolEnable: /);
  });

  it('takes typed values from code and refuses those of the wrong kind', async () => {
    const { options } = await load({
      assignments: [known('plugins', ['sql92'], 'code'), known('listenPort', 0, 'code')],
    });
    assert.deepEqual(options.plugins, ['sql92']);
    assert.equal(options.enablePropertyFilter, true);
    assert.notEqual(options.listenPort, 0);
    assert.match(await failure({ assignments: [known('listenPort', true, 'code')] }), /true is not of kind integer/);
    assert.match(await failure({ assignments: [known('listenPort', 1.5, 'code')] }), /1.5 is not of kind integer/);
    assert.match(await failure({ assignments: [known('memory', 1, 'code')] }), /1 is not of kind boolean/);
  });

  it('reads lists with blanks and empty parts', async () => {
    const { options } = await load({ assignments: [known('plugins', ' a, ,b,', '--plugins')] });
    assert.deepEqual(options.plugins, ['a', 'b']);
  });

  describe('filters by expressions and their bits', () => {
    const kept = async (text: string, plugins: readonly string[] = []) => {
      const named = plugins.length === 0 ? [] : [known('plugins', plugins, '--plugins')];
      const { options, notices } = await load({ file: file(text), assignments: named });
      const { enablePropertyFilter, enableCalcFilterBitMap, enableConsumeQueueExt } = options;
      const warnings = notices.filter(({ level }) => level === 'warn').map(({ message }) => message.split(':')[0]);
      const set = [enablePropertyFilter, enableCalcFilterBitMap, enableConsumeQueueExt];
      return [options.plugins.join(), set.map(Number).join(''), ...warnings];
    };

    it('come with the plugins sql92 and bitmap, or with the options of an unchanged file', async () => {
      assert.deepEqual(await kept(''), ['', '000']);
      assert.deepEqual(await kept('', ['sql92']), ['sql92', '100']);
      assert.deepEqual(await kept('', ['sql92', 'bitmap']), ['sql92,bitmap', '111']);
      const all = 'enablePropertyFilter=true\nenableCalcFilterBitMap=true\nenableConsumeQueueExt=true';
      assert.deepEqual(await kept(all), ['sql92,bitmap', '111']);
    });

    it('are warned of when one lacks what makes it useful', async () => {
      assert.deepEqual(await kept('enablePropertyFilter=true'), [
        ...['sql92', '100'],
        'enablePropertyFilter without enableCalcFilterBitMap',
      ]);
      assert.deepEqual(await kept('enableCalcFilterBitMap=true'), [
        ...['sql92,bitmap', '010'],
        'enableCalcFilterBitMap without enablePropertyFilter',
        'enableCalcFilterBitMap without enableConsumeQueueExt',
      ]);
      assert.deepEqual(await kept('enableCalcFilterBitMap=false', ['sql92', 'bitmap']), [
        ...['sql92,bitmap', '101'],
        'the plugin bitmap does nothing',
      ]);
    });

    it('have the width that 4.9 computes, whatever a file says', async () => {
      const { options, notices } = await load({ file: file('bitMapLengthConsumeQueueExt=64') });
      assert.equal(options.bitMapLengthConsumeQueueExt, 112);
      assert.ok(notices.some(({ message }) => message.startsWith('bitMapLengthConsumeQueueExt 64 becomes 112')));
    });
  });

  describe('derived options', () => {
    it('is a broker alone when name servers are named, unless role says all', async () => {
      assert.equal((await load({ env: { NAMESRV_ADDR: '10.0.0.9:9876' } })).options.role, 'broker');
      const both = await load({
        env: { NAMESRV_ADDR: '10.0.0.9:9876; ' },
        assignments: [known('role', 'all', '--role')],
      });
      assert.equal(both.options.namesrvAddr, '10.0.0.9:9876;127.0.0.1:9876');
    });

    it("takes listenPort of a name server's file for the name server", async () => {
      const { options } = await load({
        file: file('listenPort=9999'),
        assignments: [known('role', 'namesrv', '--role')],
      });
      assert.equal(options.namesrvListenPort, 9999);
    });

    it('overwrites haListenPort as 4.9.7 does', async () => {
      assert.equal((await load({ file: file('listenPort=20911\nhaListenPort=5') })).options.haListenPort, 20_912);
    });

    it('sets the id of a master to 0 and says so', async () => {
      const { options, notices } = await load({ file: file('brokerId=3') });
      assert.equal(options.brokerId, 0);
      assert.match(notices[0]!.message, /brokerId 3 becomes 0/);
    });

    it('advertises the address it binds to, with a word about loopback', async () => {
      const { options, notices } = await load({ assignments: [known('bindAddress', '127.0.0.1', '--bind')] });
      assert.equal(options.brokerIP1, '127.0.0.1');
      assert.equal(options.brokerIP2, '127.0.0.1');
      assert.match(notices[0]!.message, /only clients on this machine/);
      const v6 = await load({ assignments: [known('bindAddress', 'fd00::1', '--bind')] });
      assert.equal(v6.options.brokerIP1, '[fd00::1]');
      assert.equal(v6.options.namesrvAddr, '[fd00::1]:9876');
    });

    it('prefers an address that is not 192.168, takes the last of those, then IPv6, then loopback', async () => {
      const advertised = async (...addresses: [string, 'IPv4' | 'IPv6'][]): Promise<string> => {
        const machine = testMachine({
          addresses: () => addresses.map(([address, family]) => ({ address, family, internal: false })),
        });
        return (await load({ machine })).options.brokerIP1;
      };
      assert.equal(await advertised(['192.168.0.1', 'IPv4'], ['172.16.0.1', 'IPv4']), '172.16.0.1');
      assert.equal(await advertised(['192.168.0.1', 'IPv4'], ['192.168.0.2', 'IPv4']), '192.168.0.2');
      assert.equal(await advertised(['fe80::1', 'IPv6'], ['192.168.0.2', 'IPv4']), '192.168.0.2');
      assert.equal(await advertised(['fd00::2', 'IPv6']), '[fd00::2]');
      assert.equal(await advertised(), '127.0.0.1');
    });

    it('rounds the size of ConsumeQueue files up to whole entries', async () => {
      const { options } = await load({ file: file('mappedFileSizeConsumeQueue=6001') });
      assert.equal(options.mappedFileSizeConsumeQueue, 6020);
    });

    it('takes smaller files in memory, unless they are set', async () => {
      const memory = known('memory', true, 'code');
      assert.equal((await load({ assignments: [memory] })).options.mappedFileSizeCommitLog, 33_554_432);
      const set = await load({ assignments: [memory, known('mappedFileSizeCommitLog', 1_048_576, 'code')] });
      assert.equal(set.options.mappedFileSizeCommitLog, 1_048_576);
    });
  });

  describe('relations of limits', () => {
    for (const [lines, problem] of [
      ['ringSlots=1000', /ringSlots 1000 is not a power of two/],
      ['ringBytes=8388608', /does not hold two of the largest records: set at least 8519680/],
      ['maxMessageSize=16777216\nringBytes=67108864', /does not fit a frame: at most 16711680/],
      ['outboundBytesMax=1048576', /does not hold one pull answer/],
      ['memory=true\nmemoryStoreBytesMax=33554432', /does not hold two files/],
      [
        'mappedFileSizeConsumeQueueExt=50\nexpectConsumerNumUseFilter=100',
        /does not hold one unit with filter bits of 42 bytes/,
      ],
      ['expectConsumerNumUseFilter=100000', /filter bits of 41873 bytes do not fit one unit/],
      ['diskSpaceCleanForciblyRatio=91', /diskSpaceCleanForciblyRatio 91 is above diskSpaceWarningLevelRatio 90/],
    ] as const) {
      it(`refuses ${lines.replace('\n', ' and ')}`, async () => {
        assert.match(await failure({ file: file(lines) }), problem);
      });
    }

    it('names all that are broken at once', async () => {
      assert.match(
        await failure({ file: file('ringSlots=1000\noutboundBytesMax=1048576') }),
        /ringSlots.*; outboundBytesMax/,
      );
    });
  });
});
