// The port to small values that all nodes of an installation share.
import type { StoreCall } from './store-result.ts'

export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

export const settingsLimits = { keysMax: 10_000, valueBytesMax: 65_536 } as const

export interface SharedSettings {
  /** undefined: there is none. */
  readonly get: (key: string) => StoreCall<JsonValue | undefined>
  /** `too-large`: more than `valueBytesMax` octets as JSON, or more than `keysMax` keys. */
  readonly set: (key: string, value: JsonValue, nowMs: number) => StoreCall<void, 'too-large'>
  /** Stores what is made once: the first value stays. @returns the one that is stored */
  readonly putFirst: (
    key: string,
    value: JsonValue,
    nowMs: number,
  ) => StoreCall<JsonValue, 'too-large'>
  /** @returns whether there was one */
  readonly delete: (key: string) => StoreCall<boolean>
  /** All of them, by key. */
  readonly list: () => StoreCall<ReadonlyMap<string, JsonValue>>
}
