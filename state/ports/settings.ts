// The port to small values shared by all nodes of an installation.
import type { StoreCall } from './store-result.ts'

export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

export const settingsLimits = { keysMax: 10_000, valueBytesMax: 65_536 } as const

export interface SharedSettings {
  /** undefined: not set. */
  readonly get: (key: string) => StoreCall<JsonValue | undefined>
  /** `too-large`: more than `valueBytesMax` octets as JSON, or more than `keysMax` keys. */
  readonly set: (key: string, value: JsonValue, nowMs: number) => StoreCall<void, 'too-large'>
  /** @returns whether it existed */
  readonly delete: (key: string) => StoreCall<boolean>
}
