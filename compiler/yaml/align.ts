// Aligns two lists of items: kept, removed and added ones.
import { sameValue } from './same-value.ts'
import type { JsonValue } from './text.ts'
import { isFields } from '#lib/text/json.ts'

interface Alignment {
  /** Positions before and after, both ascending. */
  readonly kept: readonly (readonly [from: number, to: number])[]
  readonly removed: readonly number[]
  /** After all kept ones. */
  readonly added: readonly number[]
}

/** Fields that identify an item among its neighbours. */
const tells = ['uid', 'name', 'ipAddress', 'cidr', 'triggerValue', 'at'] as const

/** An item that is neither removed nor equal was changed in place. */
export function alignItems(old: readonly JsonValue[], next: readonly JsonValue[]): Alignment {
  const kept: [number, number][] = []
  const removed: number[] = []
  let at = 0
  for (const [from, item] of old.entries()) {
    const candidate = next[at]
    const isHere =
      candidate !== undefined && (isSame(item, candidate) || !isLater(old, from + 1, candidate))
    if (isHere) kept.push([from, at++])
    else removed.push(from)
  }
  return { kept, removed, added: next.slice(at).map((_, i) => at + i) }
}

function isLater(old: readonly JsonValue[], from: number, wanted: JsonValue): boolean {
  for (let i = from; i < old.length; i++) if (isSame(old[i]!, wanted)) return true
  return false
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  if (!isFields(a) || !isFields(b)) return sameValue(a, b)
  if (typeof a['uid'] === 'string' && typeof b['uid'] === 'string') return a['uid'] === b['uid']
  return sameValue(a, b) || tells.some((key) => isText(a[key]) && a[key] === b[key])
}

const isText = (value: JsonValue | undefined): boolean => typeof value === 'string' && value !== ''
