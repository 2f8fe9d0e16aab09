// Discovers members: asks the sources that members name, and says which addresses they have.
import { discoveredLimits, parseDiscovered, partsForTenant } from '#bundle/discovered/from.ts'
import type {
  DiscoveredCounts,
  FoundAddressesOf,
  HostnameStatus,
} from '#inputs/resolve/address-source.ts'
import { AddressChanges } from '#inputs/resolve/address-changes.ts'
import { slotsFor } from '#inputs/resolve/usable-addresses.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import type { After } from '#lib/timer.ts'
import { getOrInsert } from '#lib/sequence/get-or-insert.ts'
import type { FoundMembers, LastMembers } from '#state/ports/last-members.ts'
import { allTenants } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import { fairShare } from '#lib/sequence/fair-share.ts'
import { Membership } from './membership.ts'
import { Query } from './query.ts'
import type { Source } from './query.ts'
import { Reference } from './reference.ts'
import type { ReferenceStatus } from './reference.ts'
import type { FleetTeller } from './fleet-teller.ts'
import { sourceStatus } from './source-status.ts'
import type { SourceStatus } from './source-status.ts'

interface DiscoveryParts {
  /** By name. */
  readonly sources: ReadonlyMap<string, Source>
  /** True: loopback and link-local addresses are answered. */
  readonly allowLocal: boolean
  /** null: after a restart nothing is known until the first answer. */
  readonly last: LastMembers | null
  /** null: other nodes are told of nothing. */
  readonly fleet: Pick<FleetTeller, 'tell' | 'forget'> | null
  readonly clock: Clock
  readonly after: After
  readonly random: Random
  readonly log: Log
}

const tooManyQueries =
  `this node asks ${discoveryLimits.queriesMax} services, which the tenants share, and no more: ` +
  'name fewer in pools'

const unconfigured = { maxRemoved: 1, removeAfterMs: 0, intervalMs: 0 }

export class Discovery implements FoundAddressesOf {
  readonly #parts: DiscoveryParts
  #references = new Map<string, Reference>()
  readonly #queries = new Map<string, Query>()
  /** Keys of the questions that this node asks. */
  #shared: ReadonlySet<string> = new Set()
  readonly #failures: Record<string, number> = {}
  readonly #changes: AddressChanges
  readonly #dropped = new Map<string, { readonly found: FoundMembers; readonly untilMs: number }>()
  #waiting: (() => void)[] = []

  constructor(parts: DiscoveryParts) {
    this.#parts = parts
    const { last, clock, after } = parts
    const store = last === null ? null : () => last.keep(this.#found())
    this.#changes = new AddressChanges({ clock, after, batchMs: discoveryLimits.batchMs, store })
    for (const name of parts.sources.keys()) this.#failures[name] = 0
  }

  onChange(handler: (names: readonly string[]) => void): void {
    this.#changes.onChange(handler)
  }

  want(names: Iterable<string>): void {
    const wanted = new Set(names)
    const before = this.#references
    this.#references = new Map()
    for (const [name, reference] of before) if (!wanted.has(name)) this.#drop(name, reference)
    this.#shared = this.#sharedBy(wanted)
    // What ends makes room for what comes.
    for (const [key, query] of this.#queries) {
      if (this.#shared.has(key)) continue
      query.stop()
      this.#queries.delete(key)
      this.#parts.fleet?.forget(key)
    }
    for (const name of wanted) {
      const reference = before.get(name) ?? this.#newReference(name)
      this.#dropped.delete(name)
      this.#references.set(name, reference)
      if (!this.#shared.has(this.#askOf(name)?.key ?? '')) reference.query = undefined
      if (reference.query === undefined) this.#join(name, reference)
    }
    this.#wake()
  }

  statusOf(name: string): HostnameStatus {
    return (this.#references.get(name) ?? this.#newReference(name)).status
  }

  async settled(): Promise<void> {
    if (this.#isSettled()) return
    await new Promise<void>((resolve) => {
      const callOff = this.#parts.after(discoveryLimits.startPatienceMs, resolve)
      this.#waiting.push(() => {
        callOff()
        resolve()
      })
    })
  }

  stop(): void {
    for (const query of this.#queries.values()) query.stop()
    for (const reference of this.#references.values()) reference.stop()
    this.#queries.clear()
    this.#changes.stop()
    this.#references.clear()
  }

  /** What each member asks for, in the order of their names. */
  list(): readonly ReferenceStatus[] {
    const all = [...this.#references.values()].map((one) => one.describe())
    return all.sort((a, b) => (a.from < b.from ? -1 : 1))
  }

  /** How each source of the settings stands, in the order of the settings. */
  sources(): readonly SourceStatus[] {
    const references = [...this.#references.values()]
    const queries = [...this.#queries.values()]
    return [...this.#parts.sources].map(([name, source]) =>
      sourceStatus(
        source,
        queries.filter((query) => query.source === source),
        references.filter(({ from }) => from?.source === name),
      ),
    )
  }

  /**
   * Lets go what is held of a source.
   *
   * @param source its name
   * @returns how many members; 0: none are held
   */
  accept(source: string): number {
    let count = 0
    for (const reference of this.#references.values()) {
      if (reference.from?.source !== source) continue
      const { tenant, from, held } = reference.describe()
      if (!reference.accept()) continue
      count += held?.missing ?? 0
      const fields = { tenant, from, members: held?.missing }
      this.#parts.log.info(fields, 'the members that a source does not find any more are let go')
    }
    return count
  }

  counts(): DiscoveredCounts {
    const references = { found: 0, stale: 0, missing: 0, refused: 0 }
    let [members, held] = [0, 0]
    const nowMs = this.#parts.clock.nowMs()
    let oldestMs = nowMs
    for (const one of this.#references.values()) {
      const { foundAtMs, error, held: kept, members: known, isRefused } = one.describe()
      if (isRefused) references.refused++
      else if (foundAtMs === 0) references.missing++
      else if (error === '') references.found++
      else references.stale++
      members += known.length
      held += kept?.missing ?? 0
      if (foundAtMs > 0) oldestMs = Math.min(oldestMs, foundAtMs)
    }
    const ageSeconds = (nowMs - oldestMs) / 1000
    return { references, members, held, ageSeconds, failures: { ...this.#failures } }
  }

  #join(name: string, reference: Reference): void {
    const { from } = reference
    const source = from === undefined ? undefined : this.#parts.sources.get(from.source)
    if (from === undefined || source === undefined) {
      reference.fail(whyUnknown(from?.source ?? name, this.#namesFor(name)))
      return
    }
    if (reference.isRefused) {
      reference.fail(whyRefused(from.source, partsForTenant(name).tenant))
      return
    }
    const { key, service } = this.#askOf(name)!
    const fault = faultOfService(source, service)
    if (fault !== undefined) {
      reference.fail(fault)
      return
    }
    if (!this.#shared.has(key)) {
      reference.fail(tooManyQueries)
      return
    }
    let query = this.#queries.get(key)
    if (query === undefined) {
      query = this.#newQuery(source, service, key)
      this.#queries.set(key, query)
      query.start()
    }
    reference.query = query
    reference.takeLast(query)
  }

  /** The questions that are asked; those that are asked already go before. */
  #sharedBy(wanted: ReadonlySet<string>): ReadonlySet<string> {
    const known = new Map<string, string[]>()
    const fresh = new Map<string, string[]>()
    for (const name of wanted) {
      const ask = this.#askOf(name)
      const source = this.#parts.sources.get(
        parseDiscovered(partsForTenant(name).text)?.source ?? '',
      )
      if (ask === undefined || source === undefined) continue
      if (faultOfService(source, ask.service) !== undefined) continue
      const { tenant } = partsForTenant(name)
      const lists = this.#queries.has(ask.key) ? known : fresh
      getOrInsert(lists, tenant, () => []).push(ask.key)
    }
    const all = new Map<string, readonly string[]>()
    for (const tenant of new Set([...known.keys(), ...fresh.keys()])) {
      all.set(tenant, [...(known.get(tenant) ?? []), ...(fresh.get(tenant) ?? [])])
    }
    return fairShare(all, discoveryLimits.queriesMax)
  }

  #newQuery(source: Source, service: string, key: string): Query {
    return new Query(source, service, {
      ...this.#parts,
      onNews: (one) => {
        this.#took(one)
      },
      onFound: ({ checked, source: { settings, kind } }) => {
        // What was read from others is theirs to tell.
        if (checked === null || kind.name === 'fleet') return
        this.#parts.fleet?.tell(key, checked.targets, settings.intervalMs)
      },
      onFailure: ({ source: { settings } }) => {
        this.#failures[settings.name] = (this.#failures[settings.name] ?? 0) + 1
      },
    })
  }

  /** What is asked for a name, and by what key; undefined: nobody can be. */
  #askOf(name: string): { readonly key: string; readonly service: string } | undefined {
    const from = parseDiscovered(partsForTenant(name).text)
    const source = from === undefined ? undefined : this.#parts.sources.get(from.source)
    if (from === undefined || source === undefined) return undefined
    if (!isFor(source, partsForTenant(name).tenant)) return undefined
    const { settings, kind } = source
    const service = from.service === '' ? settings.service : from.service
    return { key: `${settings.name}/${kind.service === 'none' ? '' : service}`, service }
  }

  /** Keeps its members for a while, as a commit may be taken back. */
  #drop(name: string, reference: Reference): void {
    const found = reference.found()
    reference.stop()
    if (found === undefined) return
    const untilMs = this.#parts.clock.monotonicMs() + discoveryLimits.droppedMs
    this.#dropped.delete(name)
    this.#dropped.set(name, { found, untilMs })
    const [oldest] = this.#dropped.keys()
    if (this.#dropped.size > discoveryLimits.droppedMax) this.#dropped.delete(oldest!)
  }

  #droppedOf(name: string): FoundMembers | undefined {
    const dropped = this.#dropped.get(name)
    if (dropped === undefined) return undefined
    if (this.#parts.clock.monotonicMs() < dropped.untilMs) return dropped.found
    this.#dropped.delete(name)
    return undefined
  }

  /** The sources that the tenant of a name may use: it is told of no others. */
  #namesFor(name: string): readonly string[] {
    const { tenant } = partsForTenant(name)
    const all = [...this.#parts.sources]
    return all.filter(([, source]) => isFor(source, tenant)).map(([own]) => own)
  }

  #newReference(name: string): Reference {
    const { tenant, text } = partsForTenant(name)
    const from = parseDiscovered(text)
    const source = from === undefined ? undefined : this.#parts.sources.get(from.source)
    const isRefused = source !== undefined && !isFor(source, tenant)
    // What was found while the tenant still could use it is not answered any more.
    const known = this.#droppedOf(name) ?? this.#parts.last?.of(name)
    const last = isRefused ? undefined : known
    const rules = source?.settings ?? unconfigured
    return new Reference({
      name,
      from,
      kind: source?.kind.name ?? '',
      isRefused,
      membership: new Membership(rules, new Map(last?.members ?? [])),
      foundAtMs: last?.atMs ?? 0,
      slots: (before, now) => slotsFor(before, now, discoveredLimits.slots),
      ...this.#parts,
      onNews: (isChanged) => {
        const { storeEveryMs, storeAgainMs } = discoveryLimits
        this.#changes.storeWithin(isChanged ? storeEveryMs : storeAgainMs)
        this.#changes.add(name)
      },
    })
  }

  #took(query: Query): void {
    for (const reference of this.#references.values()) {
      if (reference.query === query) reference.take(query)
    }
    this.#wake()
  }

  #isSettled(): boolean {
    return [...this.#queries.values()].every(({ hasTried }) => hasTried)
  }

  #wake(): void {
    if (this.#isSettled()) for (const done of this.#waiting.splice(0)) done()
  }

  #found(): readonly FoundMembers[] {
    const asked = [...this.#references.values()].map((one) => one.found())
    const dropped = [...this.#dropped.keys()].map((name) => this.#droppedOf(name))
    return [...asked, ...dropped].filter((one) => one !== undefined)
  }
}

function isFor({ settings: { tenants } }: Source, tenant: string): boolean {
  return tenants.includes(allTenants) || tenants.includes(tenant)
}

function whyRefused(source: string, tenant: string): string {
  return (
    `this node's settings do not let the tenant ${tenant} use the source ${source}; ` +
    `discovery.sources.${source}.tenants says which may`
  )
}

function whyUnknown(source: string, known: readonly string[]): string {
  const those = known.length === 0 ? 'it has none for this tenant' : `it has ${known.join(', ')}`
  return `discovery.sources of this node's settings has no "${source}"; ${those}`
}

function faultOfService({ settings, kind }: Source, service: string): string | undefined {
  if (kind.service === 'none') {
    if (service === '') return undefined
    return `the source ${settings.name} has no services; write from: ${settings.name}`
  }
  if (service === '' && kind.service === 'required')
    return `write which service of ${settings.name}: ${settings.name}/${kind.serviceForm ?? 'NAME'}`
  return kind.faultOfService?.(service)
}
