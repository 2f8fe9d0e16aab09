// The port to short texts that nodes tell each other, each kept for a while.
export const keptTextLimits = {
  /** Characters. */
  textMax: 4_194_304,
  keptMaxMs: 42 * 86_400_000,
} as const

/** Each method rejects when the store cannot be reached; the caller then goes on without it. */
export interface KeptTexts {
  /** Replaces what any node has told. @param key any text */
  readonly publish: (key: string, text: string, keptMs: number) => Promise<void>
  /** null: nobody has told of it, or long ago. */
  readonly read: (key: string) => Promise<string | null>
}
