// The name, algorithm and secret of a TSIG key. RFC 8945 section 3.
import type { TsigAlgorithm } from './tsig-algorithms.ts'

export interface TsigKey {
  /** Wire form, in lower case. */
  readonly name: Uint8Array
  readonly algorithm: TsigAlgorithm
  readonly secret: Uint8Array
  /** Makes the MACs in place of the secret, for GSS-TSIG. */
  readonly context?: MacContext
}

/** A security context that two ends have agreed on: their MACs differ by direction. RFC 3645. */
export interface MacContext {
  readonly sign: (data: Uint8Array) => Uint8Array
  readonly verifies: (data: Uint8Array, mac: Uint8Array) => boolean
}

/** Times are whole seconds of the Unix epoch. RFC 8945 section 10 recommends 300. */
export const tsigFudgeSeconds = 300

/** Extended response codes in the error field of the record. RFC 8945 section 3. */
export const TsigError = { None: 0, BadSig: 16, BadKey: 17, BadTime: 18, BadTrunc: 22 } as const
export type TsigError = (typeof TsigError)[keyof typeof TsigError]
