// The contract of a script step: its input, its limits, and how it can end.

/** How a run ended. Anything but `Done` leaves the candidates as they were. Never reordered. */
export const ScriptOutcome = {
  Done: 0,
  /** `result` names no candidate. */
  Empty: 1,
  Exception: 2,
  Syntax: 3,
  /** Steps or time were used up. */
  Timeout: 4,
  Memory: 5,
  /** The helper is not there, or at work for an earlier query, or was asked too often at once. */
  Busy: 6,
  /** Not run: it has used up its time too often, and has to wait. */
  Benched: 7,
} as const
export type ScriptOutcome = (typeof ScriptOutcome)[keyof typeof ScriptOutcome]

/** By outcome: what metrics and traces call it. */
export const scriptOutcomeNames = [
  'done',
  'empty',
  'exception',
  'syntax',
  'timeout',
  'memory',
  'busy',
  'benched',
] as const

export const scriptLimits = {
  /** All that a script may put on its heap, its globals included. */
  memoryBytesMax: 4_194_304,
  /** Limit of the engine's own stack; its thread's stack grows about twenty times as fast. */
  stackBytesMax: 32_768,
  /** Instructions between two looks at the clock; the engine's own number. */
  stepsPerPoll: 10_000,
  /** Instructions in all, native functions not counted. */
  stepsMax: 200_000,
  /** A responder waits no longer. */
  waitMs: 2,
  /** The helper gives up earlier, so that it is free when the responder goes on. */
  runMs: 1.5,
  /**
   * In one batch of queries, which are answered together: a flood of queries for a slow script must
   * not keep the others waiting for each of its runs. Below some thousand a second no batch is so
   * full.
   */
  runsPerBatchMax: 8,
  /**
   * A pool with so many members is built once and kept in the engine; one with fewer is built for
   * each run, which takes some microseconds a member.
   */
  keptMembersMin: 48,
  /** Octets of all that is kept; pools that find no room are built for each run. */
  keptBytesMax: 33_554_432,
  /** A script that looks at each of so many candidates still has time to spare. */
  candidatesInTime: 1_000,
  /** Characters of a body that is read in half of its time: it is read for each run. */
  bodyLengthInTime: 8_192,
} as const
