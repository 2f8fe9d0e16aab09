// Limits on a check of a delegation: time, questions, servers, and size of reports.

export const delegationLimits = {
  /** One whole check, whatever servers there are. */
  checkMs: 12_000,
  /** One question to one server, over UDP and TCP. */
  askMs: 3_000,
  /** Delay before a question is sent again. */
  againMs: 1_000,
  /** Wrong answers over UDP accepted for one question. */
  wrongAnswersMax: 8,
  /** Questions of one check, including those that find the servers. */
  questionsMax: 150,
  /** Steps down from the root; each goes at least one label deeper. */
  referralsMax: 16,
  /** Nesting of lookups of name server addresses. */
  depthMax: 3,
  /** Servers of one zone tried until one answers. */
  triesMax: 4,
  /** RFC 1912 recommends at most 7; the root has 13. */
  serversMax: 13,
  addressesMax: 8,
  recordsMax: 1_000,
  /** Records of an answer listed in a report. */
  recordsKeptMax: 13,
  textMax: 1_000,
  sentenceMax: 300,
  /** Payload size in queries. RFC 9715 section 3.1. */
  udpBytes: 1_232,
} as const
