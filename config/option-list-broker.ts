import { choice, flag, ignoredFlag, ignoredInteger, ignoredText, integer, list, LONG_MAX, text } from './declare.js';

/** Who this broker is and how others reach it (4.9: BrokerConfig). */
export const identityOptions = [
  choice('role', ['all', 'broker', 'namesrv'], 'all', 'which servers this process runs', {
    derived: 'broker when name servers are named, else all',
  }),
  text('rocketmqHome', '', "the original's installation folder", {
    accepted:
      'there is no installation folder: nothing is read from it; the environment variable ROCKETMQ_HOME neither',
  }),
  text('namesrvAddr', '', 'host:port of every name server to register at, separated by ;', {
    derived: 'the own name server of role all',
  }),
  text('brokerIP1', '', 'address that clients are told to connect to', {
    derived: 'bindAddress when that is one address, else the first own address neither loopback nor 192.168',
  }),
  text('brokerIP2', '', 'address that slaves are told to replicate from', { derived: 'the value of brokerIP1' }),
  text('brokerName', '', 'name of the master and its slaves together', { derived: 'host name' }),
  text('brokerClusterName', 'DefaultCluster', 'cluster this broker registers in'),
  integer('brokerId', 0, '', '0 is the master, larger numbers are slaves', { max: LONG_MAX }),
  integer('brokerPermission', 6, 'bits', 'what clients may do: 4 read, 2 write', { max: 7 }),
  text('regionId', 'DefaultRegion', 'put into answers and properties of stored messages'),
  flag('traceOn', true, 'told to producers in send answers: whether their messages are to be traced'),
  text('bindAddress', '', 'address that every port listens on; all addresses when empty, as in the original'),
  integer(
    'listenPort',
    10911,
    'port',
    "the broker's port; 0 takes one so that the ports derived from it are free too",
    {
      max: 65535,
    },
  ),
  integer('fastListenPort', 0, 'port', 'second port of the broker that old clients use by default', {
    derived: 'listenPort - 2',
    max: 65535,
  }),
  integer('namesrvListenPort', 9876, 'port', "the name server's port; 0 takes a free one", { max: 65535 }),
  integer('adminPort', 0, 'port', 'HTTP port for health, metrics and the console', {
    derived: 'listenPort + 10',
    max: 65535,
    accepted: 'not yet: nothing listens there; the number is only reserved',
  }),
];

/** Topics and groups (4.9: BrokerConfig). */
export const topicOptions = [
  integer('defaultTopicQueueNums', 8, 'queues', 'upper bound for queues of a topic that a send creates', { min: 1 }),
  flag('autoCreateTopicEnable', true, 'whether a send to an unknown topic creates it after the template TBW102'),
  flag('autoCreateSubscriptionGroup', true, 'whether a heartbeat or pull of an unknown group creates it'),
  flag('clusterTopicEnable', true, 'permission of the topic named as the cluster'),
  flag('brokerTopicEnable', true, 'permission of the topic named as the broker'),
  text('msgTraceTopicName', 'RMQ_SYS_TRACE_TOPIC', 'where traces of messages go'),
  flag('traceTopicEnable', false, 'whether the trace topic exists from the start'),
  integer('autoCreatedTopicsMax', 10_000, 'topics', 'bound of what strangers can create by sending', { min: 1 }),
  integer('autoCreatedGroupsMax', 10_000, 'groups', 'bound of what strangers can create by heartbeats and pulls', {
    min: 1,
  }),
];

/** Answering producers and consumers (4.9: BrokerConfig). */
export const servingOptions = [
  integer('waitTimeMillsInSendQueue', 200, 'ms', 'a send that waited longer for room in the ring is answered 2', {
    min: 1,
  }),
  integer('startAcceptSendRequestTimeStamp', 0, 'ms since the epoch', 'sends before that moment are refused', {
    max: LONG_MAX,
  }),
  flag('longPollingEnable', true, 'holds a pull that finds nothing until something arrives'),
  integer('shortPollingTimeMills', 1000, 'ms', 'how long a pull is held when long polling is off'),
  flag('notifyConsumerIdsChangedEnable', true, 'tells the members of a group at once when one joins or leaves'),
  integer('maxDelayTime', 40, '', 'bound of what the original computes for slaves', {
    accepted: 'not yet: comes with replication',
  }),
  flag(
    'slaveReadEnable',
    false,
    'pull answers name the broker that a group reads from, another one while it is far behind',
  ),
  flag(
    'disableConsumeIfConsumerReadSlowly',
    false,
    'switches off groups that read too far behind, until updateSubGroup',
  ),
  integer('consumerFallbehindThreshold', 17_179_869_184, 'bytes', 'see disableConsumeIfConsumerReadSlowly', {
    max: LONG_MAX,
  }),
  integer('flushConsumerOffsetInterval', 5000, 'ms', 'between two writes of consumerOffset.json', { min: 10 }),
  integer('registerNameServerPeriod', 30_000, 'ms', 'between two registrations; the original clamps it to 10 to 60 s', {
    min: 10,
  }),
  integer('registerBrokerTimeoutMills', 6000, 'ms', 'how long a registration may take', { min: 1 }),
  flag('compressedRegister', false, 'compresses the body of a registration'),
  flag('forceRegister', true, 'registers even when nothing changed'),
  flag('enablePropertyFilter', false, 'lets consumers filter by SQL92 expressions', {
    derived: 'true when the plugin sql92 is loaded',
  }),
  flag(
    'enableCalcFilterBitMap',
    false,
    'notes beside each message which filters it passes; needs enableConsumeQueueExt',
    {
      derived: 'true when the plugin bitmap is named',
    },
  ),
  integer(
    'expectConsumerNumUseFilter',
    32,
    'groups',
    'with a filter that a topic is expected to have: sizes its bits',
    {
      min: 1,
    },
  ),
  integer('maxErrorRateOfBloomFilter', 20, 'percent', 'of the messages that a group reads although they do not pass', {
    min: 1,
    max: 99,
  }),
  integer('filterDataCleanTimeSpan', 86_400_000, 'ms', 'for which the filters of a group without members are kept', {
    max: LONG_MAX,
  }),
  flag('filterSupportRetry', false, 'applies the filter to messages that are consumed again'),
  integer('transactionTimeOut', 6000, 'ms', 'that a half message is old before its producers are asked about it'),
  integer('transactionCheckInterval', 60_000, 'ms', 'between two looks at half messages that nobody decided', {
    min: 1,
  }),
  integer('transactionCheckMax', 15, 'questions', 'about a half message before it goes to TRANS_CHECK_MAX_TIME_TOPIC'),
  integer(
    'transactionOpenMax',
    2_000_000,
    'messages',
    'half messages that nobody decided, some 60 bytes of memory each; beyond, new ones are refused',
    { min: 1 },
  ),
  flag('rejectTransactionMessage', false, 'refuses transactional messages'),
  flag('aclEnable', false, 'checks signatures and permissions', {
    refused: [
      { value: true, why: 'access control is not there yet, and an open broker must not look like a closed one' },
    ],
  }),
  list('plugins', 'plugins beyond the built-in profile: a built-in name, a file, or a package'),
];

const THREADS = 'requests are answered on one event loop: there is no thread pool of this kind';
const QUEUES =
  'there is no queue before a thread pool: waiting is bounded in bytes by sendWaitBytesMax and heldPullsMax';
const COMMERCIAL = "counters of the vendor's own bills";

/** Read, and without meaning here (4.9: BrokerConfig). */
export const ignoredBrokerOptions = [
  ignoredText('messageStorePlugIn', '', 'names a Java class; plugins here are named by plugins'),
  ignoredInteger('sendMessageThreadPoolNums', 4, THREADS),
  ignoredInteger('putMessageFutureThreadPoolNums', 4, THREADS),
  ignoredInteger('pullMessageThreadPoolNums', 32, THREADS),
  ignoredInteger('processReplyMessageThreadPoolNums', 32, THREADS),
  ignoredInteger('queryMessageThreadPoolNums', 16, THREADS),
  ignoredInteger('adminBrokerThreadPoolNums', 16, THREADS),
  ignoredInteger('clientManageThreadPoolNums', 32, THREADS),
  ignoredInteger('consumerManageThreadPoolNums', 32, THREADS),
  ignoredInteger('heartbeatThreadPoolNums', 8, THREADS),
  ignoredInteger('endTransactionThreadPoolNums', 24, THREADS),
  ignoredInteger('flushConsumerOffsetHistoryInterval', 60_000, 'the original reads it nowhere'),
  ignoredFlag(
    'fetchNamesrvAddrByAddressServer',
    false,
    'there is no look-up of name servers over HTTP: set namesrvAddr',
  ),
  ignoredInteger('sendThreadPoolQueueCapacity', 10_000, QUEUES),
  ignoredInteger('putThreadPoolQueueCapacity', 10_000, QUEUES),
  ignoredInteger('pullThreadPoolQueueCapacity', 100_000, QUEUES),
  ignoredInteger('replyThreadPoolQueueCapacity', 10_000, QUEUES),
  ignoredInteger('queryThreadPoolQueueCapacity', 20_000, QUEUES),
  ignoredInteger('clientManagerThreadPoolQueueCapacity', 1_000_000, QUEUES),
  ignoredInteger('consumerManagerThreadPoolQueueCapacity', 1_000_000, QUEUES),
  ignoredInteger('heartbeatThreadPoolQueueCapacity', 50_000, QUEUES),
  ignoredInteger('endTransactionPoolQueueCapacity', 100_000, QUEUES),
  ignoredInteger('filterServerNums', 0, 'filter servers start processes from configuration and were removed for it'),
  ignoredFlag('highSpeedMode', false, 'the original reads it nowhere'),
  ignoredFlag('commercialEnable', true, COMMERCIAL),
  ignoredInteger('commercialTimerCount', 1, COMMERCIAL),
  ignoredInteger('commercialTransCount', 1, COMMERCIAL),
  ignoredInteger('commercialBigCount', 1, COMMERCIAL),
  ignoredInteger('commercialBaseCount', 1, COMMERCIAL),
  ignoredFlag('transferMsgByHeap', true, 'messages are always read from the page cache into one buffer'),
  ignoredFlag('brokerFastFailureEnable', true, 'sends that waited too long are always answered 2'),
  ignoredInteger('waitTimeMillsInPullQueue', 5000, QUEUES),
  ignoredInteger('waitTimeMillsInHeartbeatQueue', 31_000, QUEUES),
  ignoredInteger('waitTimeMillsInTransactionQueue', 3000, QUEUES),
  ignoredFlag('storeReplyMessageEnable', true, 'not yet: replies to messages'),
  ignoredFlag('enableDetailStat', true, 'not yet: statistics'),
  ignoredFlag('autoDeleteUnusedStats', false, 'not yet: statistics'),
  ignoredFlag('isolateLogEnable', false, 'log lines go to standard error, not to files'),
];
