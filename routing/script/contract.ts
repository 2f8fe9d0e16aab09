// What a script step is given, what it may take, and how it can end (document B).

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
  /** Of the engine's own; its thread's stack grows about twenty times as fast. */
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
  /** Octets of the list of addresses that is read from `result`. */
  resultBytesMax: 262_144,
} as const

/** The globals of a script, `now` and `result` aside. Plain data, by the names of document B. */
export interface ScriptInput {
  readonly candidates: readonly {
    readonly ip: string
    readonly region: string
    /** In effect now. */
    readonly weight: number
    readonly priority: number
    /** 0 to 1. */
    readonly health_score: number
    /** 0: not measured. */
    readonly rtt_ms: number
  }[]
  readonly client: {
    readonly ip: string
    /** The /24 or /48 around it. */
    readonly subnet: string
    /** 0: not known. */
    readonly asn: number
    /** Two letters of a country; '': not known. */
    readonly geo: string
  }
  /** With a final dot, in lower case. */
  readonly qname: string
  /** `A` or `AAAA`. */
  readonly qtype: string
  /** Unix time. */
  readonly now: number
}

/**
 * Runs once in a fresh realm; its value is the pair (put, read). What a script can change does not
 * reach these two: they hold what they need. Time and chance are inputs, so that an answer can be
 * replayed: `Date` stands still at `now`, in UTC, and `Math.random` continues a seed.
 */
export const scriptPrelude = `(() => {
  const world = globalThis, parse = JSON.parse, RealDate = Date, construct = Reflect.construct
  const imul = Math.imul
  let state = 0
  let millis = 0
  function StoppedDate(...parts) {
    if (new.target === undefined) return new RealDate(millis).toUTCString()
    const given = parts.length < 2 ? parts : [RealDate.UTC(...parts)]
    return construct(RealDate, parts.length === 0 ? [millis] : given, new.target)
  }
  StoppedDate.prototype = RealDate.prototype
  StoppedDate.prototype.constructor = StoppedDate
  StoppedDate.now = () => millis
  StoppedDate.UTC = RealDate.UTC
  StoppedDate.parse = RealDate.parse
  world.Date = StoppedDate
  const dates = RealDate.prototype
  for (const part of ['FullYear', 'Month', 'Date', 'Hours', 'Minutes', 'Seconds', 'Milliseconds']) {
    dates['get' + part] = dates['getUTC' + part]
    dates['set' + part] = dates['setUTC' + part]
  }
  dates.getDay = dates.getUTCDay
  dates.toString = dates.toUTCString
  dates.getTimezoneOffset = () => 0
  delete world.performance
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = imul(state ^ (state >>> 15), 1 | state)
    t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const put = (text, seed) => {
    const { candidates, client, qname, qtype, now } = parse(text)
    world.candidates = candidates
    world.client = client
    world.qname = qname
    world.qtype = qtype
    world.now = now
    state = seed
    millis = now * 1000
  }
  const read = (most) => {
    let text = ''
    if (typeof result !== 'object' || result === null) return text
    const count = result.length
    for (let i = 0; i < count && text.length < most; i++) {
      const item = result[i]
      if (typeof item === 'string' && item.length < 64) text += item + ' '
    }
    return text
  }
  return [put, read]
})()`
