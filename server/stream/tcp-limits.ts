// Limits on TCP clients: time, connections and bytes.

export interface TcpLimits {
  /** A connection without a message for this long is closed, and told so. RFC 7766, RFC 7828. */
  readonly idleTimeoutMs: number
  /** A message must be complete this long after its first byte, however slowly it trickles. */
  readonly messageTimeoutMs: number
  /** A client must take what we wrote within this time. */
  readonly writeTimeoutMs: number
  /** How long `close` waits for answers under way. */
  readonly closeTimeoutMs: number
  /** How long `close` waits for a client that has all its answers, and is to close its half. */
  readonly lingerMs: number
  /**
   * Times two batches of replies (128 KiB) is the most that clients who do not read can hold of
   * ours, over HTTPS with 128 KiB of requests (https-limits.ts) besides. A connection over HTTPS
   * with 99 replies of 60,000 octets that nobody read took 1.2 MiB of memory in all: the rest is
   * what TLS, nghttp2 and the allocator keep.
   */
  readonly connectionsMax: number
  /** Per client: an IPv4 address, or an IPv6 /64 (one subscriber owns at least that). */
  readonly connectionsPerClientMax: number
  /** Messages of one connection that are answered before the other connections get their turn. */
  readonly messagesPerTurnMax: number
  /** Connections that the kernel may hold before we accept them. */
  readonly backlog: number
}

export const tcpLimits: TcpLimits = Object.freeze({
  idleTimeoutMs: 10_000,
  messageTimeoutMs: 5_000,
  writeTimeoutMs: 5_000,
  closeTimeoutMs: 3_000,
  lingerMs: 300,
  connectionsMax: 1_024,
  connectionsPerClientMax: 128,
  messagesPerTurnMax: 64,
  backlog: 511,
})

/** RFC 1035 section 4.2.2: the length prefix has 16 bits. */
export const tcpMessageBytesMax = 65_535
