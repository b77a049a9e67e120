/** Header fields by name. Decoded ones have no prototype, so that no name reaches Object's own members. */
export type ExtFields = Readonly<Record<string, string>>;

export const Serialize = { JSON: 0, ROCKETMQ: 1 } as const;
export type Serialize = (typeof Serialize)[keyof typeof Serialize];
