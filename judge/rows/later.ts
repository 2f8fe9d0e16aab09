// Lists differences that change no answer now: health checks, spare members, policies.
import { poolOfService, redirectsOf, serviceCell, textOf } from '#bundle/format/bundle.ts'
import { addressOfMember } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { MemberFlag, NodeCell } from '#bundle/format/cells.ts'
import { parseHealthCheck } from '#bundle/format/health-check.ts'
import { memberExtraOf } from '#bundle/format/member-extra.ts'
import { firstPolicyCode, OnAllDownCode } from '#bundle/format/routing-cells.ts'
import { formatName } from '#dns/name.ts'
import { membersOf } from '#routing/state/candidates.ts'
import type { LaterChange, LaterKind } from '#judge/document/model.ts'
import { nameOf } from './names.ts'
import type { Differences } from './names.ts'
import { isUpkeepAlike, overlayTexts } from './pools.ts'
import { policyAt, policyLabel } from './settings.ts'
import { byCodeUnits } from '#lib/sequence/order.ts'
import { firstOf } from '#lib/text/first-of.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'

const namesMax = 20
const membersMax = 8

/**
 * @param shown names whose answers are listed as different
 *
 * @param isListing false: the names that use a pool are not looked for
 */
export function laterChanges(
  base: Bundle,
  head: Bundle,
  differences: Differences,
  shown: ReadonlySet<string>,
  isListing = true,
): readonly LaterChange[] {
  const users = isListing ? new PoolUsers(head) : nobody
  return [
    ...poolChanges(base, head, differences, users),
    ...serviceChanges(base, head, differences, shown),
    ...[...differences.settings.values()].map((name) => plain('settings', name, 'differs')),
    ...redirectChanges(base, head),
  ]
}

function plain(kind: LaterKind, subject: string, what: string): LaterChange {
  return { kind, subject, what, tenant: '', names: [], nameCount: 0 }
}

function poolChanges(
  base: Bundle,
  head: Bundle,
  { pools: { twin, isSame } }: Differences,
  users: Pick<PoolUsers, 'of'>,
): LaterChange[] {
  const changes: LaterChange[] = []
  const overlays = [overlayTexts(base), overlayTexts(head)] as const
  for (let pool = 0; pool < base.counts.pools; pool++) {
    const other = twin[pool]!
    if (other < 0) continue
    const add = (kind: LaterKind, what: string): void => {
      if (what === '') return
      const subject = `pool ${textOf(head, head.poolName[other]!)}`
      const tenant = textOf(head, head.poolTenant[other]!)
      changes.push({ kind, subject, tenant, what, ...users.of(other) })
    }
    if (isSame[pool] === 0) add('pool', memberDifference(base, pool, head, other))
    if (overlays[0].get(pool) !== overlays[1].get(other)) {
      add('overlay', 'rollouts or maintenance windows differ: see them with --at')
    }
    if (!isUpkeepAlike(base, pool, head, other)) {
      add('health-check', checkDifference(base, pool, head, other))
    }
  }
  // A stable sort: changes of one pool keep their order.
  return changes.sort((one, other) => byCodeUnits(one.subject, other.subject))
}

/** Lists the members that are removed and added, and how the remaining ones differ. */
function memberDifference(base: Bundle, pool: number, head: Bundle, other: number): string {
  const [was, is] = [membersByAddress(base, pool), membersByAddress(head, other)]
  const gone = [...was.keys()].filter((address) => !is.has(address))
  const come = [...is.keys()].filter((address) => !was.has(address))
  const parts: string[] = []
  if (gone.length > 0) parts.push(`without ${listed(gone)}`)
  if (come.length > 0) parts.push(`with ${listed(come)}`)
  const changed = [...is].flatMap(([address, fields]) => {
    const before = was.get(address)
    const words = before === undefined ? '' : fieldDifference(before, fields)
    return words === '' ? [] : [`${address} ${words}`]
  })
  if (changed.length > 0) parts.push(listed(changed))
  const [least, wanted] = [base.poolMinHealthy[pool]!, head.poolMinHealthy[other]!]
  if (least !== wanted) parts.push(`minHealthy ${least} → ${wanted}`)
  return parts.join('; ')
}

const listed = (texts: readonly string[]): string => firstOf(texts, membersMax)

type Fields = Readonly<Record<string, unknown>>

function membersByAddress(bundle: Bundle, pool: number): ReadonlyMap<string, Fields> {
  return new Map(
    Array.from(membersOf(bundle, pool), (member) => [
      addressOfMember(bundle, member),
      {
        weight: bundle.memberWeight[member],
        priority: bundle.memberPriority[member],
        enabled: (bundle.memberFlags[member]! & MemberFlag.Enabled) !== 0,
        region: textOf(bundle, bundle.memberRegion[member]!),
      },
    ]),
  )
}

function fieldDifference(before: Fields, after: Fields): string {
  const differing = Object.keys(after).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  return differing
    .map((name) => `${name} ${valueText(before[name])} → ${valueText(after[name])}`)
    .join(', ')
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value || '""' : JSON.stringify(value)
}

/** Secrets are not in bundles; what a health check sends may be long. */
const valueLengthMax = 60

function checkDifference(base: Bundle, pool: number, head: Bundle, other: number): string {
  const textAt = (bundle: Bundle, at: number): string => textOf(bundle, bundle.poolHealthCheck[at]!)
  const check = probeDifference(textAt(base, pool), textAt(head, other))
  const extras = (bundle: Bundle, at: number): ReadonlyMap<string, Fields> =>
    new Map(
      Array.from(membersOf(bundle, at), (member) => {
        const { warmupThreshold, externalSignalMode } = memberExtraOf(bundle, member)
        const port = bundle.memberPort[member]
        return [addressOfMember(bundle, member), { port, warmupThreshold, externalSignalMode }]
      }),
    )
  const before = extras(base, pool)
  // Removed and added members are listed by `memberDifference`.
  const members = [...extras(head, other)].flatMap(([address, fields]) => {
    const known = before.get(address)
    const differing = known === undefined ? '' : fieldDifference(known, fields)
    return differing === '' ? [] : [`${address} ${differing}`]
  })
  return [check, listed(members)].filter((words) => words !== '').join('; ')
}

function probeDifference(was: string, is: string): string {
  if (was === is) return ''
  if (was === '') return 'is probed from now on: members that fail go out'
  if (is === '') return 'is not probed any more: each member counts as healthy'
  const [check, next] = [parseHealthCheck(was), parseHealthCheck(is)]
  const words = fieldDifference({ ...check }, { ...next })
  return words.length > valueLengthMax * 4 ? `${words.slice(0, valueLengthMax * 4)}…` : words
}

/** Services that differ in ways that their answers do not show. */
function serviceChanges(
  base: Bundle,
  head: Bundle,
  { names }: Differences,
  shown: ReadonlySet<string>,
): LaterChange[] {
  const changes: LaterChange[] = []
  for (const { base: node, head: other, qname } of names) {
    const name = formatName(qname)
    if (node < 0 || other < 0) continue
    const [was, is] = [whenDown(base, node), whenDown(head, other)]
    // A visible difference does not show what happens when all members are down.
    const words =
      was === undefined || is === undefined
        ? ''
        : shown.has(name)
          ? fieldDifference({ onAllDown: was.onAllDown }, { onAllDown: is.onAllDown })
          : fieldDifference({ ...was }, { ...is })
    if (words === '') continue
    const service = head.nodeRow[other * NodeCell.Words + NodeCell.Service]! - 1
    changes.push({
      kind: 'service',
      subject: `service ${textOf(head, head.serviceName[service]!)}`,
      tenant: textOf(head, head.serviceTenant[service]!),
      what: words,
      names: [name],
      nameCount: 1,
    })
  }
  return changes
}

const onAllDownNames: Readonly<Record<number, string>> = {
  [OnAllDownCode.Empty]: 'empty',
  [OnAllDownCode.All]: 'all',
}

interface WhenDown {
  readonly pool: string
  readonly policy: string
  readonly onAllDown: string
}

/**
 * Returns a service's policy for the case that all members are down; undefined: no service has the
 * name.
 */
function whenDown(bundle: Bundle, node: number): WhenDown | undefined {
  const row = node * NodeCell.Words
  if (bundle.nodeRow[row + NodeCell.Service] === 0) return undefined
  const pool = bundle.nodeRow[row + NodeCell.Pool]! - 1
  const code = bundle.nodeRow[row + NodeCell.Algorithm]!
  const plainOne = { onAllDown: OnAllDownCode.Empty, fallbackPool: -1 }
  const { onAllDown, fallbackPool } = code < firstPolicyCode ? plainOne : policyAt(bundle, code)
  const nameOfPool = (at: number): string =>
    at < 0 ? 'none' : textOf(bundle, bundle.poolName[at]!)
  return {
    pool: nameOfPool(pool),
    policy: policyLabel(bundle, node),
    onAllDown: onAllDownNames[onAllDown] ?? `pool ${nameOfPool(fallbackPool)}`,
  }
}

function redirectChanges(base: Bundle, head: Bundle): LaterChange[] {
  if (base.counts.redirects + head.counts.redirects === 0) return []
  const textsOf = (bundle: Bundle) =>
    new Set(redirectsOf(bundle).map((redirect) => JSON.stringify(redirect)))
  const [was, is] = [textsOf(base), textsOf(head)]
  const gone = [...was].filter((text) => !is.has(text)).length
  const come = [...is].filter((text) => !was.has(text)).length
  if (gone + come === 0) return []
  return [
    plain('redirects', 'HTTP redirects', `${gone} of the base and ${come} of the head differ`),
  ]
}

const nobody: Pick<PoolUsers, 'of'> = { of: () => ({ names: [], nameCount: 0 }) }

/** Finds the names of services that answer from a pool of the head, or fall back on it. */
class PoolUsers {
  readonly #head: Bundle
  #byPool: Map<number, number[]> | undefined

  constructor(head: Bundle) {
    this.#head = head
  }

  of(pool: number): Pick<LaterChange, 'names' | 'nameCount'> {
    this.#byPool ??= this.#collect()
    const services = this.#byPool.get(pool) ?? []
    const names = services
      .map((service) => formatName(nameOf(this.#head, this.#head.serviceNode[service]!)))
      .sort()
    return { names: names.slice(0, namesMax), nameCount: services.length }
  }

  #collect(): Map<number, number[]> {
    const byPool = new Map<number, number[]>()
    const head = this.#head
    for (let service = 0; service < head.counts.services; service++) {
      const code = serviceCell(head, service, NodeCell.Algorithm)
      const fallback = code < firstPolicyCode ? -1 : policyAt(head, code).fallbackPool
      for (const pool of new Set([poolOfService(head, service), fallback])) {
        if (pool < 0) continue
        getOrInsert(byPool, pool, () => []).push(service)
      }
    }
    return byPool
  }
}
