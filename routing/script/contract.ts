// The contract of a script step: its input, its limits, and its outcomes.

/** The outcome of a run. All but `Done` leave the candidates as they were. Never renumbered. */
export const ScriptOutcome = {
  Done: 0,
  /** `result` names no candidate. */
  Empty: 1,
  Exception: 2,
  Syntax: 3,
  /** The step or time limit was reached. */
  Timeout: 4,
  Memory: 5,
  /** No helper runs, it is busy with an earlier query, or it was asked too often at once. */
  Busy: 6,
  /** Not run: suspended after several timeouts. */
  Benched: 7,
} as const
export type ScriptOutcome = (typeof ScriptOutcome)[keyof typeof ScriptOutcome]

/** Names in metrics and traces, by outcome. */
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
  /** Heap limit of a script, its globals included. */
  memoryBytesMax: 4_194_304,
  /** Limit of the engine's own stack; its thread's stack grows about twenty times as fast. */
  stackBytesMax: 32_768,
  /** Instructions between two checks of the clock; fixed by the engine. */
  stepsPerPoll: 10_000,
  /** Instructions of a run, native functions not counted. */
  stepsMax: 200_000,
  /** Longest wait of a responder. */
  waitMs: 2,
  /** The helper stops earlier, so that it is free when the responder continues. */
  runMs: 1.5,
  /**
   * Runs in one batch of queries, which are answered together: a flood of queries for a slow script
   * must not delay the others by each run. Below some thousand a second no batch is so full.
   */
  runsPerBatchMax: 8,
  /**
   * A pool with this many members is built once and kept in the engine; a smaller one is built for
   * each run, which takes some microseconds a member.
   */
  keptMembersMin: 48,
  /** Octets of all kept pools; others are built for each run. */
  keptBytesMax: 33_554_432,
  /** Candidates that a script can look at with time to spare. */
  candidatesInTime: 1_000,
  /** Characters of a body that parses in half of its time: it is parsed for each run. */
  bodyLengthInTime: 8_192,
} as const
