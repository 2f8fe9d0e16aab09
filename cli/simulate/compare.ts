// Compares two configurations: services side by side, by their members' shares.
import type { Bundle } from '#bundle/format/bundle.ts'
import { formatName, parseName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { assert } from '#lib/assert.ts'
import type { RoutingTables } from '#routing/choose/environment.ts'
import type { RoutingState } from '#routing/state/state.ts'
import { nameOfNode } from '#cli/files/bundle-json.ts'
import type { SimulatedOverlay } from './overlays.ts'
import type { SimulatedQuestion } from './question.ts'
import { simulate } from './simulation.ts'
import type { Simulation } from './simulation.ts'

/** A configuration as a server would serve it. */
export interface ComparedSide {
  readonly bundle: Bundle
  readonly state: RoutingState
  readonly overlays: readonly SimulatedOverlay[] | null
}

export interface Comparison extends Omit<SimulatedQuestion, 'qname' | 'tables'> {
  /** Wire form; null: every service of either side, A and AAAA. */
  readonly name: Uint8Array | null
  readonly tables: (bundle: Bundle) => RoutingTables
}

/** A question that the two sides answer differently. */
export interface Difference {
  readonly name: string
  readonly type: string
  readonly before: SideOfDifference
  readonly after: SideOfDifference
}

export interface SideOfDifference {
  readonly rcode: string
  readonly ttlSeconds: number | null
  /** The addresses of one answer, in its order. */
  readonly answer: readonly string[]
  /** What answers may hold, whatever turn and dice say. */
  readonly mayAnswer: readonly string[]
  /** Per cent of the answers that an address stood first in; what was in none is not there. */
  readonly shares: Readonly<Record<string, number>>
  /** Per cent of the answers that an address stood first, second, … in. */
  readonly places: Readonly<Record<string, readonly number[]>>
  /** Of an answer that is not of a service. */
  readonly records: readonly string[]
}

/** Shares of random choices differ a little between any two runs. */
const noticeablePercent = 1

export function compareSimulations(
  before: ComparedSide,
  after: ComparedSide,
  { name, tables, ...question }: Comparison,
): readonly Difference[] {
  const questions =
    name === null
      ? namesOf(before, after).flatMap(
          (text) =>
            [
              [text, RrType.A],
              [text, RrType.AAAA],
            ] as const,
        )
      : [[formatName(name), question.qtype] as const]
  const differences: Difference[] = []
  const [tablesBefore, tablesAfter] = [tables(before.bundle), tables(after.bundle)]
  for (const [text, qtype] of questions) {
    const qname = parseName(text)
    assert(qname.ok, 'names of services are names')
    const ask = { ...question, qname: qname.value, qtype }
    const one = sideOf(simulate(before.bundle, before.state, { ...ask, tables: tablesBefore }), ask)
    const two = sideOf(simulate(after.bundle, after.state, { ...ask, tables: tablesAfter }), ask)
    if (areAlike(one, two)) continue
    differences.push({ name: text, type: typeText(qtype), before: one, after: two })
  }
  return differences
}

function namesOf(...sides: readonly ComparedSide[]): readonly string[] {
  const names = sides.flatMap(({ bundle }) =>
    Array.from(bundle.serviceNode, (node) => nameOfNode(bundle, node)),
  )
  return [...new Set(names)].sort()
}

function sideOf(
  { rcode, records, service }: Simulation,
  { count }: { count: number },
): SideOfDifference {
  const shares: Record<string, number> = {}
  const places: Record<string, readonly number[]> = {}
  for (const share of service?.distribution ?? []) {
    const perCent = share.places.map((times) => Math.round((times * 1000) / count) / 10)
    shares[share.ipAddress] = perCent[0]!
    places[share.ipAddress] = perCent
  }
  const { picks: answer = [], mayAnswer = [] } = service ?? {}
  const isOfService = answer.length > 0
  const ttlSeconds = isOfService && service !== null ? service.ttlSeconds : null
  const others = isOfService ? [] : withoutSerial(records)
  return { rcode, ttlSeconds, answer, mayAnswer, shares, places, records: others }
}

/** The serial counts publications, of which a comparison knows nothing. */
function withoutSerial(records: readonly string[]): readonly string[] {
  return records.filter((record) => !record.includes(' SOA '))
}

function areAlike(one: SideOfDifference, two: SideOfDifference): boolean {
  if (one.rcode !== two.rcode || one.ttlSeconds !== two.ttlSeconds) return false
  if (one.records.join('\n') !== two.records.join('\n')) return false
  if (one.answer.length !== two.answer.length) return false
  const may = new Set(two.mayAnswer)
  if (may.size !== one.mayAnswer.length || !one.mayAnswer.every((each) => may.has(each))) {
    return false
  }
  // Where no shares are counted, there is one answer to go by.
  const isCounted = Object.keys(one.places).length > 0
  if (!isCounted) return one.answer.join() === two.answer.join()
  return one.mayAnswer.every((address) => {
    const [was, is] = [one.places[address] ?? [], two.places[address] ?? []]
    const length = Math.max(was.length, is.length)
    return Array.from({ length }, (_, i) => (was[i] ?? 0) - (is[i] ?? 0)).every(
      (change) => Math.abs(change) <= noticeablePercent,
    )
  })
}

function typeText(qtype: number): string {
  const known = Object.entries(RrType).find(([, value]) => value === qtype)
  return known?.[0] ?? `TYPE${qtype}`
}

export function printComparison(differences: readonly Difference[]): string {
  if (differences.length === 0) return 'no answer differs\n'
  const lines = differences.flatMap(({ name, type, before, after }) => [
    `${name} ${type}`,
    `  before  ${sideText(before)}`,
    `  after   ${sideText(after)}`,
  ])
  const count =
    differences.length === 1 ? '1 answer differs' : `${differences.length} answers differ`
  return `${lines.join('\n')}\n${count}\n`
}

function sideText(side: SideOfDifference): string {
  const { rcode, ttlSeconds, answer, mayAnswer, shares, records } = side
  if (ttlSeconds !== null) {
    const counted = Object.entries(shares)
    const isOfMany = answer.length > 1
    const shown = isOfMany ? counted.filter(([, share]) => share > 0) : counted
    const texts = shown.map(([address, share]) => `${address} ${share} %`).join(', ')
    const first = isOfMany && texts !== '' ? `; first: ${texts}` : ''
    const rare = mayAnswer.filter((one) => shares[one] === undefined && !answer.includes(one))
    const also = rare.length === 0 ? '' : `; seldom ${rare.join(', ')}`
    const main = isOfMany || texts === '' ? answer.join(', ') : texts
    return `${main}${first}${also}, TTL ${ttlSeconds}`
  }
  if (records.length > 0) return records.join('; ')
  return rcode === 'NOERROR' ? 'NOERROR without records' : rcode
}
