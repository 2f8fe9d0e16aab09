// The table of limits on what one change alters: what each measures, and how it says so.
import type { ChangeOutline } from '#compiler/plan/change-outline.ts'
import { changedNamesFree, ttlJumpFreeSeconds } from '#schemas/objects/guardrails.ts'
import { areTooMany, listed } from './removal.ts'

type Measure = (before: ChangeOutline, after: ChangeOutline) => string | undefined

/** Each: undefined, so much may change; else what it does, as the end of "Commit c0ffee …". */
const table: { readonly [Name in keyof ChangeOutline['limits']]: Measure } = {
  removedMembers: ({ pools, limits }, after) => {
    for (const [name, { members }] of pools) {
      const now = after.pools.get(name)
      // Who uses it still is the question of the names.
      if (now === undefined) continue
      const left = new Set(now.members)
      const gone = members.filter((member) => !left.has(member))
      // What takes their place is no loss.
      const lost = Math.min(gone.length, members.length - now.members.length)
      if (!areTooMany(lost, members.length, limits.removedMembers)) continue
      const whose = `of the ${members.length} members of pool "${name}"`
      return `takes away ${lost} ${whose} (${listed(gone)}), more than ${limits.removedMembers} %`
    }
    return undefined
  },
  lostRedundancy: ({ pools, limits }, after) => {
    const redundant = [...pools].filter(([, { isUsed, members }]) => isUsed && members.length > 1)
    const lost = redundant
      .filter(([name]) => (after.pools.get(name)?.members.length ?? 2) < 2)
      .map(([name]) => name)
    if (!areTooMany(lost.length, redundant.length, limits.lostRedundancy)) return undefined
    const share = `${lost.length} of ${redundant.length} pools (${listed(lost)})`
    return `leaves ${share} with fewer than two members, more than ${limits.lostRedundancy} %`
  },
  ttlJump: ({ ttls, limits }, after) => {
    const longer = [...ttls].filter(([name, ttl]) => {
      const now = after.ttls.get(name) ?? 0
      return now > ttlJumpFreeSeconds && now > Math.max(1, ttl) * limits.ttlJump
    })
    if (longer.length < 2) return undefined
    const shown = longer.map(([name, ttl]) => `${name} from ${ttl} s to ${after.ttls.get(name)} s`)
    const times = `more than ${limits.ttlJump} times as long`
    return `makes the TTLs of ${longer.length} names ${times} (${listed(shown)})`
  },
  changedNames: ({ shapes, limits }, after) => {
    const changed: string[] = []
    for (const [name, shape] of shapes) {
      const now = after.shapes.get(name)
      if (now !== undefined && now !== shape) changed.push(name)
    }
    if (changed.length <= changedNamesFree) return undefined
    if (!areTooMany(changed.length, shapes.size, limits.changedNames)) return undefined
    const share = `${changed.length} of ${shapes.size} names (${listed(changed)})`
    return `changes ${share}, more than ${limits.changedNames} %`
  },
}

/** The first limit that a change is beyond, in words; undefined: none. */
export function beyondLimit(before: ChangeOutline, after: ChangeOutline): string | undefined {
  for (const measure of Object.values(table)) {
    const words = measure(before, after)
    if (words !== undefined) return words
  }
  return undefined
}
