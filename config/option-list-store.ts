import { choice, flag, ignoredFlag, ignoredInteger, ignoredText, integer, LONG_MAX, text } from './declare.js';

/** Where and how messages are stored (4.9: MessageStoreConfig). */
export const storeOptions = [
  text('storePathRootDir', '', 'folder of the store', { derived: '$HOME/store' }),
  text('storePathCommitLog', '', 'folder of the commit log', { derived: 'storePathRootDir/commitlog' }),
  flag('memory', false, 'keeps messages in memory only: nothing is written, everything is gone at the end'),
  integer(
    'memoryStoreBytesMax',
    536_870_912,
    'bytes',
    'bound of the memory store; when room gets short the oldest messages go',
    {
      min: 1_048_576,
      max: LONG_MAX,
    },
  ),
  integer('mappedFileSizeCommitLog', 1_073_741_824, 'bytes', 'size of each commit log file; 32 MiB in memory', {
    min: 4096,
  }),
  integer(
    'mappedFileSizeConsumeQueue',
    6_000_000,
    'bytes',
    'size of each ConsumeQueue file, in memory a tenth; rounded up to 20',
    {
      min: 20,
    },
  ),
  flag('warmMapedFileEnable', false, 'fills the next commit log file with zeros ahead, so that its room is taken'),
  integer('flushLeastPagesWhenWarmMapedFile', 4096, 'pages of 4 KiB', 'are synced at a time while a file is filled', {
    min: 1,
  }),
  flag('enableConsumeQueueExt', false, 'keeps tags code, store time and filter bits of each message beside its queue', {
    derived: 'true when the plugin bitmap is named',
  }),
  integer('mappedFileSizeConsumeQueueExt', 50_331_648, 'bytes', 'size of each file of enableConsumeQueueExt', {
    min: 24,
  }),
  integer(
    'bitMapLengthConsumeQueueExt',
    64,
    'bits',
    'filter bits of each message there; overwritten, as in the original',
    {
      derived: 'what expectConsumerNumUseFilter and maxErrorRateOfBloomFilter need',
    },
  ),
  integer('maxMessageSize', 4_194_304, 'bytes', 'largest body, and largest message less its fixed part', { min: 1 }),
  choice('flushDiskType', ['ASYNC_FLUSH', 'SYNC_FLUSH'], 'ASYNC_FLUSH', 'whether a send waits for the disk'),
  integer('flushIntervalCommitLog', 500, 'ms', 'between two flushes under ASYNC_FLUSH', { min: 1 }),
  integer('flushCommitLogLeastPages', 4, 'pages of 4 KiB', 'fewer are left to the thorough flush'),
  integer('flushCommitLogThoroughInterval', 10_000, 'ms', 'after which every page is flushed, however few', { min: 1 }),
  integer('syncFlushTimeout', 5000, 'ms', 'a send that waited longer for the disk is answered 10', { min: 1 }),
  integer('flushIntervalConsumeQueue', 1000, 'ms', 'between two flushes of the queue files', { min: 1 }),
  flag('checkCRCOnRecover', true, 'checks bodies while the store is recovered'),
  flag(
    'truncateDamagedLog',
    false,
    'cuts the log at a damaged record as the original does, although what follows was synced; for one start only',
  ),
  flag('duplicationEnable', false, 'the original dispatches only what is confirmed elsewhere', {
    refused: [{ value: true, why: 'duplication is not there' }],
  }),
  integer('osPageCacheBusyTimeOutMills', 1000, 'ms', 'after which the original calls the page cache busy', {
    accepted: 'nothing waits for a page here: see waitTimeMillsInSendQueue',
  }),
];

/** Reading for consumers (4.9: MessageStoreConfig). */
export const readingOptions = [
  integer('maxTransferBytesOnMessageInMemory', 262_144, 'bytes', 'bound of one pull answer near the tail', { min: 1 }),
  integer('maxTransferCountOnMessageInMemory', 32, 'messages', 'bound of one pull answer near the tail', { min: 1 }),
  integer('maxTransferBytesOnMessageInDisk', 65_536, 'bytes', 'bound of one pull answer far behind the tail', {
    min: 1,
  }),
  integer('maxTransferCountOnMessageInDisk', 8, 'messages', 'bound of one pull answer far behind the tail', { min: 1 }),
  integer(
    'accessMessageInMemoryMaxRatio',
    40,
    'percent',
    'of the memory: what lies further behind the tail is on disk',
    {
      max: 100,
    },
  ),
  integer('totalMemoryBytes', 0, 'bytes', 'what accessMessageInMemoryMaxRatio is a share of', {
    derived: "the machine's memory",
    max: LONG_MAX,
  }),
  flag('offsetCheckInSlave', false, 'lets a slave correct offsets that it does not have'),
  integer('defaultQueryMaxNum', 32, 'messages', 'bound of a query by unique key, within maxMsgsNumBatch'),
  integer('maxMsgsNumBatch', 64, 'messages', 'bound of every query by key'),
];

/** The index of messages by key (4.9: MessageStoreConfig). */
export const indexOptions = [
  flag('messageIndexEnable', true, 'keeps an index of messages by key and unique key'),
  integer('maxHashSlotNum', 5_000_000, 'slots', 'of each index file, 4 bytes each; 16,384 in memory', { min: 1 }),
  integer('maxIndexNum', 20_000_000, 'entries', 'of each index file, 20 bytes each; 65,536 in memory', { min: 2 }),
  flag('messageIndexSafe', false, 'a recovery begins no later than where the index was synced'),
  integer(
    'indexSyncIntervalMs',
    10_000,
    'ms',
    'between two syncs of the active index file, six times as long while little came; what came since is indexed again after a crash. 4.9.7 syncs full files only',
    { min: 10 },
  ),
];

/** Delayed messages (4.9: MessageStoreConfig). */
export const scheduleOptions = [
  text(
    'messageDelayLevel',
    '1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h',
    'the delay of each level, from level 1 on; units s, m, h, d',
  ),
  integer('flushDelayOffsetInterval', 10_000, 'ms', 'between two writes of delayOffset.json', { min: 10 }),
  integer(
    'timerMaxDelaySec',
    259_200,
    's',
    'the longest delay that a message may ask for by a delivery time of its own (RocketMQ 5: MessageStoreConfig)',
    { min: 1, max: 315_360_000 },
  ),
  integer(
    'timerPendingMax',
    10_000_000,
    'messages',
    'that wait for a delivery time of their own; beyond it sends of such are answered 2. Each needs 30 bytes of memory',
    { min: 1, max: 1_000_000_000 },
  ),
];

/** How long messages are kept, and what happens when a disk is full (4.9: MessageStoreConfig, and two system properties). */
export const retentionOptions = [
  integer('fileReservedTime', 72, 'hours', 'a commit log file that was not written to for so long may be deleted'),
  text('deleteWhen', '04', 'hours of the day, local time, in which old files are deleted; several with ; between'),
  integer(
    'diskMaxUsedSpaceRatio',
    75,
    'percent',
    'of a disk; above it old files are deleted at any hour; 10 to 95, others are taken as the nearest',
  ),
  flag('cleanFileForciblyEnable', true, 'above diskSpaceCleanForciblyRatio the oldest files go whatever their age'),
  integer(
    'diskSpaceCleanForciblyRatio',
    85,
    'percent',
    'of a disk; see cleanFileForciblyEnable (4.9: system property rocketmq.broker.diskSpaceCleanForciblyRatio, 0.85)',
    { min: 1, max: 100 },
  ),
  integer(
    'diskSpaceWarningLevelRatio',
    90,
    'percent',
    'of a disk; above it sends are answered 14, at 100 never (4.9: system property rocketmq.broker.diskSpaceWarningLevelRatio, 0.90)',
    { min: 1, max: 100 },
  ),
  integer(
    'diskCheckIntervalMs',
    1000,
    'ms',
    'between two looks at the disks; 4.9 looks every 10 s, time enough for gigabytes',
    {
      min: 10,
    },
  ),
  integer('cleanResourceInterval', 10_000, 'ms', 'between two looks for files to delete', { min: 10 }),
  integer(
    'deleteCommitLogFilesInterval',
    100,
    'ms',
    'between two deletions of commit log files: a disk may be slow at it',
  ),
  integer('deleteConsumeQueueFilesInterval', 100, 'ms', "between deletions of two queues' files"),
];

/** Replication (4.9: MessageStoreConfig). */
export const haOptions = [
  integer('haListenPort', 10_912, 'port', 'where slaves connect', {
    derived: 'listenPort + 1, also when it is set: 4.9.7 overwrites it',
    max: 65535,
    accepted: 'not yet: nothing listens there; the number is only reserved',
  }),
  choice('brokerRole', ['ASYNC_MASTER', 'SYNC_MASTER', 'SLAVE'], 'ASYNC_MASTER', 'whether a send waits for a slave', {
    refused: [
      { value: 'SYNC_MASTER', why: 'replication is not there yet: a send could never be confirmed by a slave' },
      { value: 'SLAVE', why: 'replication is not there yet: nothing would be copied' },
    ],
  }),
];

const HA = 'not yet: comes with replication';
const QUEUE_SYNC =
  'queue files that changed are synced whole, every flushIntervalConsumeQueue, or less often when they are many';
const MAPPED = 'files are written with pwrite: nothing is mapped or locked, no buffer stands between';
const HANGING =
  'no reader can hold up a deletion: what is open is closed, and a failed one is tried again in the next pass';
const DLEDGER = 'there is no DLedger';
const LMQ = 'there are no light message queues';

/** Read, and without meaning here (4.9: MessageStoreConfig). */
export const ignoredStoreOptions = [
  ignoredText('storePathDLedgerCommitLog', '', DLEDGER),
  text('readOnlyCommitLogStorePaths', '', 'folders of commit log files that are only read', {
    accepted: 'the commit log lies in one folder',
  }),
  ignoredFlag('flushCommitLogTimed', true, 'flushes always go by the clock'),
  ignoredInteger('flushConsumeQueueLeastPages', 2, QUEUE_SYNC),
  ignoredInteger('flushConsumeQueueThoroughInterval', 60_000, QUEUE_SYNC),
  ignoredFlag('diskFallRecorded', true, 'not yet: statistics'),
  ignoredInteger('commitIntervalCommitLog', 200, MAPPED),
  ignoredFlag('useReentrantLockWhenPutMessage', true, 'one thread writes: there is no lock'),
  ignoredInteger('destroyMapedFileIntervalForcibly', 120_000, HANGING),
  ignoredInteger('redeleteHangedFileInterval', 120_000, HANGING),
  ignoredInteger(
    'putMsgIndexHightWater',
    600_000,
    'there is no queue of index requests: what is behind is read from the log',
  ),
  ignoredInteger('commitCommitLogLeastPages', 4, MAPPED),
  ignoredInteger('commitCommitLogThoroughInterval', 200, MAPPED),
  ignoredInteger('haSendHeartbeatInterval', 5000, HA),
  ignoredInteger('haHousekeepingInterval', 20_000, HA),
  ignoredInteger('haTransferBatchSize', 32_768, HA),
  ignoredText('haMasterAddress', '', HA),
  ignoredInteger('haSlaveFallbehindMax', 268_435_456, HA),
  ignoredInteger('slaveTimeout', 3000, HA),
  ignoredFlag('debugLockEnable', false, MAPPED),
  ignoredFlag('transientStorePoolEnable', false, MAPPED),
  ignoredInteger('transientStorePoolSize', 5, MAPPED),
  ignoredFlag('fastFailIfNoBufferInStorePool', false, MAPPED),
  flag('enableDLegerCommitLog', false, 'writes through a Raft group', { refused: [{ value: true, why: DLEDGER }] }),
  ignoredText('dLegerGroup', '', DLEDGER),
  ignoredText('dLegerPeers', '', DLEDGER),
  ignoredText('dLegerSelfId', '', DLEDGER),
  ignoredText('preferredLeaderId', '', DLEDGER),
  ignoredFlag('enableBatchPush', false, DLEDGER),
  ignoredFlag('enableScheduleMessageStats', true, 'not yet: statistics'),
  ignoredFlag('enableLmq', false, LMQ),
  ignoredFlag('enableMultiDispatch', false, LMQ),
  ignoredInteger('maxLmqConsumeQueueNum', 20_000, LMQ),
  ignoredFlag('enableScheduleAsyncDeliver', false, 'delivery never holds a thread: it is always asynchronous'),
  ignoredInteger('scheduleAsyncDeliverMaxPendingLimit', 2000, 'see enableScheduleAsyncDeliver'),
  ignoredInteger('scheduleAsyncDeliverMaxResendNum2Blocked', 3, 'see enableScheduleAsyncDeliver'),
];
