/** A message to send. */
export interface OutgoingMessage {
  readonly topic: string;
  /** 1 byte to 4 MiB; text is sent as UTF-8. */
  readonly body: Uint8Array | string;
  /** One tag, by which consumers can filter. */
  readonly tag?: string | undefined;
  /** Keys by which the message can be looked up; no spaces inside a key. */
  readonly keys?: string | readonly string[] | undefined;
  /** The application's own properties. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
  /** A number for the application's own use. Default 0. */
  readonly flag?: number | undefined;
  /** False: the broker answers before the message is flushed or replicated, whatever its settings. Default true. */
  readonly waitStore?: boolean | undefined;
  /** Deliver it after the delay of this level, from 1: an entry of the broker's `messageDelayLevel`; beyond the last, the last. */
  readonly delayLevel?: number | undefined;
  /** Deliver it at this time: a Date, or milliseconds since the epoch. A broker of Apache RocketMQ 4.9 delivers it at once. */
  readonly deliverAt?: Date | number | undefined;
  /** Deliver it so many milliseconds after the broker took it. A broker of Apache RocketMQ 4.9 delivers it at once. */
  readonly delayMs?: number | undefined;
}

/** A message as it was stored. */
export interface ReceivedMessage {
  /** The topic it was sent to, also when it comes again through the group's retry topic. */
  readonly topic: string;
  readonly body: Buffer;
  readonly tag: string | undefined;
  readonly keys: readonly string[];
  /** All properties: the application's and the system's. */
  readonly properties: ReadonlyMap<string, string>;
  /** The id that the producer gave (UNIQ_KEY), the same through all retries; the offset id when it gave none. */
  readonly msgId: string;
  /** The id that says where it is stored: broker address and position. */
  readonly offsetMsgId: string;
  /** Name of the broker it came from; empty for a message that was looked up by id. */
  readonly brokerName: string;
  readonly queueId: number;
  readonly queueOffset: number;
  readonly commitLogOffset: number;
  /** How often it was consumed in vain before. */
  readonly reconsumeTimes: number;
  /** Milliseconds since the epoch on the producer's clock. */
  readonly bornTimestamp: number;
  /** Milliseconds since the epoch on the broker's clock. */
  readonly storeTimestamp: number;
  /** `host:port` */
  readonly bornHost: string;
  /** `host:port` */
  readonly storeHost: string;
  readonly flag: number;
  readonly sysFlag: number;
  /** Size of the stored record in bytes. */
  readonly storeSize: number;
}
