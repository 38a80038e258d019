/** What holds where a program says nothing. clients/defaults.json has the figures of all clients; a test compares. */
export const defaults = {
  /** Where the daemon listens. */
  address: "127.0.0.1:7440",
  /** The variable of the environment that says where else. */
  addressVariable: "COMPACTORD_ADDR",
  /** The variable of the environment that names the daemon's program. */
  binaryVariable: "COMPACTORD_BINARY",
  /** The time limit of a call. */
  timeoutMs: 30_000,
  /** The time limit of a call that waits for a summary. */
  compactionTimeoutMs: 15 * 60_000,
  /** How long an embedded daemon may take to serve. */
  startTimeoutMs: 30_000,
  /** The largest message. */
  maxMessageBytes: 64 << 20,
  /** The silence after which a connection in use is checked. */
  keepaliveMs: 30_000,
  /** The least that this may be: the daemon answers pings that come faster by closing the connection. */
  leastKeepaliveMs: 10_000,
} as const;
