// Defines a server that a zone is pushed to: what is there, and how changes get there.
import { createHash } from 'node:crypto'
import type { Result } from '#lib/result.ts'
import type { RecordSet } from './record-sets.ts'

/** A set at the target. */
export interface ThereSet extends RecordSet {
  /** Why it is left alone as a whole, such as a routing policy; left out: it is not. */
  readonly closed?: string
}

/** What is to become of one set; sets of one name go together. */
export interface SetChange {
  readonly owner: string
  readonly type: string
  readonly before: ThereSet | undefined
  /** As it is afterwards, with what others wrote there; without values it is gone. */
  readonly after: RecordSet
  readonly adds: readonly string[]
  readonly deletes: readonly string[]
}

/** Records of a set that are there, and get another TTL. */
export const ttlChangesOf = ({ before, after, adds }: SetChange): number =>
  before === undefined || before.ttlSeconds === after.ttlSeconds
    ? 0
    : after.values.length - adds.length

/** 48 bits: all sets of a large zone are told apart, and have room in the state. */
const ttlChangeKeyCharacters = 12

/** Names a change of a TTL alone, by what was there. @returns undefined: it is another change */
export function ttlChangeKey({ before, after, adds, deletes }: SetChange): string | undefined {
  if (before === undefined || adds.length + deletes.length > 0) return undefined
  const text = JSON.stringify([before, after.ttlSeconds])
  return createHash('sha256').update(text).digest('hex').slice(0, ttlChangeKeyCharacters)
}

/**
 * `refused`: nothing of it was done, since something in it is not taken. `stopped`: nothing was
 * done, and no other request would fare better now. `failed`: it is not known what was done.
 */
export type Sent =
  { readonly is: 'done' } | { readonly is: 'refused' | 'stopped' | 'failed'; readonly why: string }

export interface PushTarget {
  /** Type, server and zone: where it is another one, nothing there is ours. */
  readonly place: string
  /** @returns as the server keeps it; a clause: why it cannot be there */
  readonly fit: (set: RecordSet) => RecordSet | string
  /** Errors: a sentence without secrets. */
  readonly read: (signal: AbortSignal) => Promise<Result<readonly ThereSet[], string>>
  /** What one `send` takes, in units of `weigh`. */
  readonly weightMax: number
  readonly weigh: (change: SetChange) => number
  /** All of them or none. */
  readonly send: (changes: readonly SetChange[], signal: AbortSignal) => Promise<Sent>
}
