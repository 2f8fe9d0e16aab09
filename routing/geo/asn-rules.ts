// Resolves `asn.rules` to the preferred members of each row of an ASN database.
import type { RoutingText } from '#bundle/format/routing-text.ts'
import type { AsnTable } from './geo-tables.ts'
import { deriveRangeTable } from '#routing/tables/range-derive.ts'
import { RangeTable } from '#routing/tables/range-table.ts'
import { AhoCorasick } from '#routing/tables/aho-corasick.ts'

/** Preferences in shared memory: computed once, read by every thread. */
export interface AsnPreferenceBuffers {
  /**
   * A range table; its values are offsets in `lists`. Operators without a rule, the most, share
   * value 0.
   */
  readonly ranges: SharedArrayBuffer
  /** Uint32: a count, then rows of `endpointVector`; list 0 is empty. */
  readonly lists: SharedArrayBuffer
}

export class AsnPreferences {
  readonly ranges: RangeTable
  readonly lists: Uint32Array

  constructor({ ranges, lists }: AsnPreferenceBuffers) {
    this.ranges = new RangeTable(ranges)
    this.lists = new Uint32Array(lists)
  }
}

/** Greatest number of matching rules considered for one client. */
const listMax = 64

/**
 * Computes the preferences. A rule matches by number or, failing that, by its part of the
 * organisation's name. A list holds the endpoints of the matching rules, in the order of the rules.
 * @param rows of the table
 */
export function asnPreferences(
  table: AsnTable,
  rules: RoutingText['asnRules'],
): AsnPreferenceBuffers {
  const rows = table.asnNumber.length
  const listOfRow = new Uint32Array(rows)
  const lists = [0]
  const offsets = new Map<string, number>([['', 0]])
  const byNumber = new Map<number, number[]>()
  const byPart = new Map<string, number[]>()
  for (const [index, { asn, org }] of rules.entries()) {
    if (asn !== null) addRule(byNumber, asn, index)
    if (org !== '') addRule(byPart, org.toLowerCase(), index)
  }
  // One search for all parts: thousands of rules are matched against the names of all operators.
  const search = new AhoCorasick([...byPart.keys()])
  const rulesOfPart = [...byPart.values()]
  const parts = new Set<number>()
  for (let row = 1; row < rows; row++) {
    const matches = new Set(byNumber.get(table.asnNumber[row]!))
    parts.clear()
    if (byPart.size > 0) search.addFound(table.organisation(row).toLowerCase(), parts)
    for (const part of parts) for (const index of rulesOfPart[part]!) matches.add(index)
    if (matches.size === 0) continue
    const ordered = [...matches].sort((a, b) => a - b).slice(0, listMax)
    const endpoints = ordered.map((index) => rules[index]!.endpoint)
    const key = endpoints.join(' ')
    let offset = offsets.get(key)
    if (offset === undefined) {
      offset = lists.length
      offsets.set(key, offset)
      lists.push(endpoints.length, ...endpoints)
    }
    listOfRow[row] = offset
  }
  const shared = new Uint32Array(new SharedArrayBuffer(lists.length * 4))
  shared.set(lists)
  return { ranges: deriveRangeTable(table.ranges, listOfRow), lists: shared.buffer }
}

/**
 * Adds a rule. Rules with the same condition are stored up to the longest list: later ones could
 * never count.
 */
function addRule<Key>(rulesOf: Map<Key, number[]>, key: Key, index: number): void {
  const rules = rulesOf.get(key)
  if (rules === undefined) rulesOf.set(key, [index])
  else if (rules.length < listMax) rules.push(index)
}
