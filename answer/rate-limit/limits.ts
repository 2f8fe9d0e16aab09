// Classes of answers that are limited, what becomes of one that is too many, and the bounds.

/** A class of answers. `all`: any answer to a network, whatever it is. */
export const AnswerClass = {
  Answer: 0,
  Referral: 1,
  NoData: 2,
  NxDomain: 3,
  Error: 4,
  All: 5,
} as const
export type AnswerClass = (typeof AnswerClass)[keyof typeof AnswerClass]

/** By `AnswerClass`, as settings and metrics name them. */
export const answerClassNames = Object.freeze([
  'answer',
  'referral',
  'nodata',
  'nxdomain',
  'error',
  'all',
] as const)
export type AnswerClassName = (typeof answerClassNames)[number]

/** What becomes of an answer. */
export const Verdict = {
  /** It goes out. */
  Pass: 0,
  /** Nothing is sent. */
  Drop: 1,
  /** An empty one with TC goes out in its place, and the client may ask over TCP. */
  Slip: 2,
} as const
export type Verdict = (typeof Verdict)[keyof typeof Verdict]

/** What was done with answers beyond the limit; `would`: nothing, for a dry run. */
export const limitActions = Object.freeze(['drop', 'slip', 'would'] as const)

export const rateLimits = {
  /** Above it one microsecond, the unit of the buckets, is a hundredth of what an answer costs. */
  perSecondMax: 10_000,
  windowMsMin: 1_000,
  windowMsMax: 60_000,
  slipMax: 10,
  bucketsMin: 1_024,
  /** 64 MiB. */
  bucketsMax: 8_388_608,
} as const

/** What may change while threads answer. */
export interface RateLimitRates {
  /** Answers a second to one network; 0: no limit. */
  readonly perSecond: Readonly<Record<AnswerClassName, number>>
  /** A network that was quiet gets at once what it gets in this time. */
  readonly windowMs: number
  /** One of so many answers beyond the limit is a truncated one; 0: none. */
  readonly slip: number
  /** All is counted, and nothing is held back. */
  readonly isDryRun: boolean
}

export interface RateLimitSettings {
  readonly rates: RateLimitRates
  /** Leading bits of an address: clients with the same ones are one network. */
  readonly ipv4Bits: number
  /** At most 64. */
  readonly ipv6Bits: number
  /** Rounded up to a power of two. */
  readonly buckets: number
  /** Networks of clients that are not limited: `192.0.2.0/24`. */
  readonly exempt: readonly string[]
}
