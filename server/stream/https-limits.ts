// Limits on one connection of DNS over HTTPS, besides those of TCP.

export const httpsLimits = Object.freeze({
  /** Requests of one connection that are open at once; RFC 9113 section 6.5.2 advises 100. */
  streamsMax: 100,
  /** Names and values, with 32 octets for each pair: the query of a GET is one of them. */
  headerBytesMax: 16_384,
  headersMax: 64,
  /**
   * Bodies of one connection that have not ended, and requests that wait for `repliesBytesMax`. A
   * body lies in at most twice its octets.
   */
  bodiesBytesMax: 131_072,
  /** While replies of one connection that are not sent have this much, its next requests wait. */
  repliesBytesMax: 65_536,
  /** Streams that may be reset at once, and then each second. CVE-2023-44487. */
  resetsAtOnce: 100,
  resetsPerSecond: 20,
  /** PING and SETTINGS frames between two requests. */
  controlFramesMax: 64,
  /** Frames that break the protocol, and streams beyond `streamsMax`, until the end. */
  invalidFramesMax: 10,
  rejectedStreamsMax: 100,
  /** Octets that may come between two looks besides those of requests: an empty frame has 9. */
  idleBytesMax: 65_536,
})
