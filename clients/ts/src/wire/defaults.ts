/** The defaults. clients/defaults.json has those of all clients; a test compares them. */
export const defaults = {
  /** The daemon's address. */
  address: "127.0.0.1:7440",
  /** The environment variable for another address. */
  addressVariable: "COMPACTORD_ADDR",
  /** The environment variable for a token. */
  tokenVariable: "COMPACTORD_TOKEN",
  /** The environment variable for the path of a file with a token. */
  tokenFileVariable: "COMPACTORD_TOKEN_FILE",
  /** The environment variable for the path of the daemon's program. */
  binaryVariable: "COMPACTORD_BINARY",
  /** The time limit of a call. */
  timeoutMs: 30_000,
  /** The time limit of a call that waits for a summary. */
  compactionTimeoutMs: 15 * 60_000,
  /** The time limit for the start of an embedded daemon. */
  startTimeoutMs: 30_000,
  /** The largest message. */
  maxMessageBytes: 64 << 20,
  /** The time without data after which a used connection is checked. */
  keepaliveMs: 30_000,
  /** The lowest value of keepalive: the daemon closes a connection that pings more often. */
  leastKeepaliveMs: 10_000,
} as const;
