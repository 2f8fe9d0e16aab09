// The messages between the main thread and the one that encodes TXT records.
import type { HandedBundle } from '#answer/serving-view.ts'
import type { TextsLeft } from './txt-bundle.ts'
import type { TxtRrset } from './txt-snapshot.ts'

export type ToTxtWorker =
  /** The rrsets at names that have changed. */
  | { readonly kind: 'rrsets'; readonly rrsets: readonly TxtRrset[] }
  /** What has come so far, for this main bundle. */
  | { readonly kind: 'encode'; readonly bytes: Uint8Array; readonly digest: string }

/** To `encode`. See TxtBundle. */
export interface FromTxtWorker extends TextsLeft {
  readonly handed: HandedBundle | null
}
