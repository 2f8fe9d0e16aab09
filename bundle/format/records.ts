// The form of SOA and NS data in a bundle: ready to be copied into an answer, names cut at the
// apex.

/**
 * A stored name: octet count of the labels above the apex, a flag, the labels. Flag 1: the zone's
 * apex follows (the writer puts a compression pointer); flag 0: the root follows.
 *
 * SOA entry, numbers in network order:
 *
 *     0   TTL, u32
 *     4   TTL of a negative answer, u32: min(TTL, MINIMUM), RFC 2308 section 3
 *     8   MNAME, RNAME: stored names
 *         REFRESH, RETRY, EXPIRE, MINIMUM: four u32 (the serial is the node's)
 *
 * NS entry:
 *
 *     0   TTL, u32
 *     4   number of name servers, u8
 *     5   for each: NSDNAME, a stored name; host index + 1, u32 (0: no address of ours)
 */
export const storedName = { prefixBytes: 0, endsAtApex: 1, labels: 2 } as const
export const soaEntry = { ttl: 0, negativeTtl: 4, names: 8, timersBytes: 16 } as const
export const nsEntry = { ttl: 0, count: 4, servers: 5, hostBytes: 4 } as const
