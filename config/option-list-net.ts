import { flag, ignoredFlag, ignoredInteger, ignoredText, integer, text } from './declare.js';

const LOOP = 'there is one event loop and no thread pool';
const POOL = 'buffers are not pooled by a setting';
const SEMAPHORE = 'one-way and asynchronous calls are bounded in bytes by outboundBytesMax';
const SOCKET = "the operating system's size is kept: Node has no setting for it";

/** Sockets (4.9: NettyServerConfig, NettyClientConfig). */
export const netOptions = [
  integer('serverChannelMaxIdleTimeSeconds', 120, 's', 'a connection that is silent for longer is closed', { min: 1 }),
  integer('serverSocketBacklog', 1024, 'connections', 'waiting to be accepted', { min: 1 }),
  integer('connectTimeoutMillis', 3000, 'ms', 'for connections that this server opens', { min: 1 }),
  flag('useTLS', false, 'encrypts connections that this server opens', {
    refused: [{ value: true, why: 'TLS is not there yet, and plain connections must not look like encrypted ones' }],
  }),
  ignoredInteger('serverWorkerThreads', 8, LOOP),
  ignoredInteger('serverCallbackExecutorThreads', 0, LOOP),
  ignoredInteger('serverSelectorThreads', 3, LOOP),
  ignoredInteger('serverOnewaySemaphoreValue', 256, SEMAPHORE),
  ignoredInteger('serverAsyncSemaphoreValue', 64, SEMAPHORE),
  ignoredInteger('serverSocketSndBufSize', 0, SOCKET),
  ignoredInteger('serverSocketRcvBufSize', 0, SOCKET),
  ignoredInteger('writeBufferHighWaterMark', 0, SEMAPHORE),
  ignoredInteger('writeBufferLowWaterMark', 0, SEMAPHORE),
  ignoredFlag('serverPooledByteBufAllocatorEnable', true, POOL),
  ignoredFlag('useEpollNativeSelector', false, LOOP),
  ignoredInteger('clientWorkerThreads', 4, LOOP),
  ignoredInteger('clientCallbackExecutorThreads', 4, LOOP),
  ignoredInteger('clientOnewaySemaphoreValue', 65_535, SEMAPHORE),
  ignoredInteger('clientAsyncSemaphoreValue', 65_535, SEMAPHORE),
  ignoredInteger('channelNotActiveInterval', 60_000, 'the original reads it nowhere'),
  ignoredInteger('clientChannelMaxIdleTimeSeconds', 120, 'connections to name servers stay open'),
  ignoredInteger('clientSocketSndBufSize', 0, SOCKET),
  ignoredInteger('clientSocketRcvBufSize', 0, SOCKET),
  ignoredFlag('clientPooledByteBufAllocatorEnable', false, POOL),
  ignoredFlag('clientCloseSocketIfTimeout', true, 'a connection to a name server that timed out is always closed'),
];

/** The name server (4.9: NamesrvConfig). */
export const namesrvOptions = [
  text('kvConfigPath', '', 'file of the key-value settings', { derived: '$HOME/namesrv/kvConfig.json' }),
  text('productEnvName', 'center', 'name of the environment that a look-up for an address server may carry', {
    accepted: 'there is no address server',
  }),
  flag('clusterTest', false, 'lets the original answer for the cluster of another environment', {
    accepted: 'there is no address server',
  }),
  flag('orderMessageEnable', false, 'puts the order configuration of a topic into its route'),
  ignoredText('rmqAddressServerDomain', 'jmenv.tbsite.net', 'there is no address server'),
  ignoredText('rmqAddressServerSubGroup', 'nsaddr', 'there is no address server'),
  ignoredText('configStorePath', '', 'settings are never written to a file that a request can name (CVE-2023-37582)'),
];
