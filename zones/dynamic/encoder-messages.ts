// The messages between the main thread and the one that encodes records written at run time.
import type { HandedBundle } from '#answer/serving-view.ts'
import type { TextsLeft } from './written-bundle.ts'
import type { WrittenName } from './written-records.ts'

export type ToEncoder =
  /** The rrsets at names that have changed. */
  | { readonly kind: 'names'; readonly names: readonly WrittenName[] }
  /** What has come so far, for this main bundle. */
  | { readonly kind: 'encode'; readonly bytes: Uint8Array; readonly digest: string }

/** To `encode`. See WrittenBundle. */
export interface FromEncoder extends TextsLeft {
  readonly handed: HandedBundle | null
}
