// Limits on sending one message.

export const sendLimits = {
  /** From the lookup of the name to the end of the response. */
  timeoutMs: 10_000,
  /** Octets of a response that are read. */
  answerBytesMax: 16 * 1024,
  /** Addresses of a name that are tried. */
  addressesMax: 8,
  /** Names that are looked up at once, since the system has few threads for it. */
  lookupsMax: 2,
  /** Names that wait for their lookup. */
  lookupsWaitingMax: 1_000,
} as const
