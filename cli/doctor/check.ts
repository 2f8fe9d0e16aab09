// Defines the input and the findings of a check of `gslbd doctor`.
import type { Io } from '#system/process/command.ts'
import type { Settings } from '#settings/settings.ts'

/** `unknown`: it could not be checked here. Only `bad` is a fault. */
export type Verdict = 'good' | 'warning' | 'bad' | 'unknown'

export interface Finding {
  readonly verdict: Verdict
  /** The finding, in a sentence without a full stop. */
  readonly found: string
  /** Remedy; left out: none is needed. */
  readonly todo?: string
}

export interface CheckedNode {
  readonly settings: Settings
  readonly env: Io['env']
  /** Names of zones of the stored bundle, with the final dot. */
  readonly zones: readonly StoredZone[]
  /** Time for one answer of the network. */
  readonly patienceMs: number
}

export interface StoredZone {
  readonly name: string
  /** Targets of its NS records at the apex, lower case, with the final dot. */
  readonly nameservers: readonly string[]
}

export interface Check {
  readonly name: string
  /** Never rejects because of what it finds. */
  readonly look: (node: CheckedNode) => Promise<readonly Finding[]>
}

export const good = (found: string): Finding => ({ verdict: 'good', found })
export const warning = (found: string, todo: string): Finding => ({
  verdict: 'warning',
  found,
  todo,
})
export const bad = (found: string, todo: string): Finding => ({ verdict: 'bad', found, todo })
export const unknown = (found: string): Finding => ({ verdict: 'unknown', found })
