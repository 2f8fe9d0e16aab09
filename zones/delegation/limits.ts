// Limits on a check of a delegation: time, questions, servers, and how much of an answer is kept.

export const delegationLimits = {
  /** All of one check, whatever servers there are. */
  checkMs: 12_000,
  /** One question to one server, over UDP and TCP. */
  askMs: 3_000,
  /** A question is sent again after this. */
  againMs: 1_000,
  /** Answers over UDP that do not fit the question, of one question. */
  wrongAnswersMax: 8,
  /** Questions of one check, those that find the servers included. */
  questionsMax: 150,
  /** Steps down from the root; each goes at least one label deeper. */
  referralsMax: 16,
  /** Name servers whose own names have to be looked up, one inside the other. */
  depthMax: 3,
  /** Servers of one zone that are asked until one answers. */
  triesMax: 4,
  /** RFC 1912 says at most 7; the root has 13. */
  serversMax: 13,
  addressesMax: 8,
  recordsMax: 1_000,
  /** How many records of an answer a report lists. */
  recordsKeptMax: 13,
  textMax: 1_000,
  sentenceMax: 300,
  /** Announced in queries. RFC 9715 section 3.1. */
  udpBytes: 1_232,
} as const
