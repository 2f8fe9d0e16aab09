// Defines the status of a node: what it serves, since when, and what it refused.
import type { ChannelRecord } from '#bundle/signature/channel.ts'
import type { Refusal } from './refusals.ts'

export interface NodeStatus {
  readonly active: ChannelRecord | null
  /** Id of the key that signed the active record; empty when there is no record. */
  readonly publisher: string
  /** The serial in the SOA of all zones; 0 before the first bundle. */
  readonly serial: number
  /** The last publication that was refused; null when a later one was activated. */
  readonly refused: (Refusal & { readonly digest: string; readonly seq: number }) | null
  readonly expired: boolean
  /**
   * false: the active bundle could not be stored on disk, and a restart would serve an older one.
   */
  readonly isStored: boolean
  readonly swaps: number
  readonly swapSecondsTotal: number
  readonly swapSecondsLast: number | null
  /** Longest time that the last swap kept a responder from answering. */
  readonly swapPauseMicros: number
  /** 0: no socket is open. */
  readonly port: number
}

/** Texts of the log about a bundle, by the threads that have taken it over. */
export const activationLines = {
  'by all': 'bundle activated',
  'not by all': 'bundle activated, but not all threads have taken it over',
  stopping: 'bundle kept: the stop came before all threads had taken it over',
} as const
