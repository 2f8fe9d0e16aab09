// Limits of one message on its way out.

export const sendLimits = {
  /** From the look-up of the name to the end of the answer. */
  timeoutMs: 10_000,
  /** Octets of an answer; the rest is not read. */
  answerBytesMax: 16 * 1024,
  /** Addresses of one name; the others are not tried. */
  addressesMax: 8,
  /** Names that are looked up at once: the system has few threads for it. */
  lookupsMax: 2,
  /** Names that wait for their look-up. */
  lookupsWaitingMax: 1_000,
} as const
