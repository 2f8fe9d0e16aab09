// A target in memory, and a store of what is ours there: both do what the real ones promise.
import type { PushTarget, Sent, SetChange, ThereSet } from '#integrations/zone-push/push-target.ts'
import { setKey, sorted } from '#integrations/zone-push/record-sets.ts'
import type { RecordSet } from '#integrations/zone-push/record-sets.ts'
import { err, ok } from '#lib/result.ts'
import type { ZonePushStore } from '#state/ports/zone-pushes.ts'

/** `www.example.com. 300 A 192.0.2.1 192.0.2.2`; values have no blanks. */
export function set(line: string): RecordSet {
  const [owner = '', ttl = '', type = '', ...values] = line.split(' ')
  return { owner, type, ttlSeconds: Number(ttl), values: sorted(values) }
}

export const lineOf = ({ owner, type, ttlSeconds, values }: RecordSet): string =>
  [owner, ttlSeconds, type, ...values].join(' ')

export interface MemoryTarget extends PushTarget {
  sets: Map<string, ThereSet>
  readonly sizes: number[]
  /** How often it was read. */
  reads: number
  readonly lines: () => readonly string[]
  readonly put: (line: string) => void
  /** What the next reading says instead. */
  fault: string
  /** Changes for which it says something else than `done`. */
  refuses: (changes: readonly SetChange[]) => Sent | null
}

export function memoryTarget(lines: readonly string[] = [], place = 'memory 1'): MemoryTarget {
  const of = (sets: readonly RecordSet[]) => new Map(sets.map((one) => [setKey(one), one]))
  const target: MemoryTarget = {
    ...{ place, sets: of(lines.map(set)), sizes: [], reads: 0, fault: '', refuses: () => null },
    lines: () => [...target.sets.values()].map(lineOf).sort(),
    put: (line) => void target.sets.set(setKey(set(line)), set(line)),
    fit: (one) => (one.type === 'HINFO' ? 'it has no such type' : one),
    weightMax: 100,
    weigh: ({ adds, deletes }) => adds.length + deletes.length,
    read: async () => {
      target.reads++
      return target.fault === '' ? ok([...target.sets.values()]) : err(target.fault)
    },
    send: async (changes) => {
      const refused = target.refuses(changes)
      if (refused !== null) return refused
      target.sizes.push(changes.length)
      for (const { after } of changes) {
        if (after.values.length === 0) target.sets.delete(setKey(after))
        else target.sets.set(setKey(after), after)
      }
      return { is: 'done' }
    },
  }
  return target
}

type MemoryPushes = { -readonly [Key in keyof ZonePushStore]: ZonePushStore[Key] } & {
  readonly owned: Set<string>
  isAway: boolean
}

export function memoryPushes(): MemoryPushes {
  const states = new Map<string, { revision: number; state: string }>()
  const owned = new Set<string>()
  const away = err({ code: 'store-away', message: 'The database does not answer.' } as const)
  const store: MemoryPushes = {
    ...{ owned, isAway: false },
    read: async (target: string) => (store.isAway ? away : ok(states.get(target) ?? null)),
    replace: async (target: string, seen: number, state: string) => {
      if (store.isAway) return away
      if ((states.get(target)?.revision ?? 0) !== seen) return ok(false)
      states.set(target, { revision: seen + 1, state })
      return ok(true)
    },
    records: async () => (store.isAway ? away : ok([...owned])),
    change: async (_: string, removed: readonly string[], added: readonly string[]) => {
      if (store.isAway) return away
      for (const key of removed) owned.delete(key)
      for (const key of added) owned.add(key)
      return ok(null)
    },
  }
  return store
}
