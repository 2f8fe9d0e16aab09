// Plans the zones of a tree: the declared ones, and an implied one for each name outside of them.
import type { NameserverModel, SoaModel } from '#bundle/format/model.ts'
import { CsyncFlag } from '#bundle/format/rrsets.ts'
import type { SettingsObject } from '#schemas/kinds.ts'
import { soaDefaults } from '#schemas/objects/zone.ts'
import type { Nameserver, Soa, Zone } from '#schemas/objects/zone.ts'
import { checkAddress } from '#compiler/values/addresses.ts'
import { editsOf } from '#lib/sequence/list-edits.ts'
import type { YamlPath } from '#diagnostics/diagnostic.ts'
import { defaultAlgorithm } from '#compiler/values/key-policy.ts'
import { checkMailbox, checkName } from '#compiler/values/names.ts'
import { signingAlgorithms } from '#dns/dnssec/algorithms.ts'
import { isInside } from '#dns/enclosing-names.ts'
import type { RecordZone } from './record-access.ts'
import type { ReadFile } from '#compiler/read/read-file.ts'
import type { Entry, Tree } from '#compiler/tree/tree.ts'

export interface PlannedZone extends RecordZone {
  readonly soa: SoaModel
  readonly nsTtlSeconds: number
  readonly nameservers: readonly NameserverModel[]
  /** Where the name servers are declared; undefined for the built-in one. */
  readonly nameserversAt: YamlPath | undefined
  /** An undeclared zone for a name outside of every declared one. */
  readonly isImplied: boolean
  /** Number of the signing algorithm. Left out: the zone is not signed. */
  readonly algorithm?: number
  readonly hasSignals?: true
  /** Flags of its CSYNC record. */
  readonly csync?: number
  /** Its records come by zone transfer. */
  readonly isInbound?: true
  /** Its names may have addresses that are written at run time. */
  readonly hasUpdates?: true
  /** Resolvers of the nodes answer otherwise. */
  readonly isSplit?: true
}

export interface ZonePlan {
  /** Declared zones come first. */
  readonly zones: readonly PlannedZone[]
  /** Positions of the declared zones by name; the same map as long as the settings stay. */
  readonly declaredAt: ReadonlyMap<string, number>
  /** By position in `tree.of.Service`; -1 where the domain is invalid. */
  readonly zoneOfService: Int32Array
  readonly hasDefaults: boolean
}

/** Placeholder for a missing name server; RFC 6761 section 6.4 keeps it out of real use. */
export const builtInNameserver = 'ns.invalid.'

/** The parts that zones share, so that a million zones do not copy them. */
interface ZoneParts {
  readonly soa: SoaModel
  readonly nameservers: readonly NameserverModel[]
  readonly nameserversAt: YamlPath | undefined
  /** The same list for a zone that encloses none of the servers. */
  readonly outside: readonly NameserverModel[]
}

interface DeclaredZones {
  readonly zones: readonly PlannedZone[]
  readonly indexOf: ReadonlyMap<string, number>
  readonly defaults: ZoneParts
  readonly hasDefaults: boolean
  readonly services: DeclaredZoneOfService
}

/** Keeps the zone of each service as long as the settings stay. */
class DeclaredZoneOfService {
  #services: readonly Entry<'Service'>[] = []
  #zones = new Int32Array(0)

  /** @returns by position of the service; -1 where no declared zone encloses it. Read-only. */
  of(services: readonly Entry<'Service'>[], indexOf: ReadonlyMap<string, number>): Int32Array {
    const zones = new Int32Array(services.length).fill(-1)
    const edits = editsOf(this.#services, services)
    const look = (at: number): void => {
      const { domainKey } = services[at]!.file
      if (domainKey !== undefined) zones[at] = enclosingZone(apexOf(domainKey), indexOf) ?? -1
    }
    if (edits === undefined) for (let at = 0; at < services.length; at++) look(at)
    else {
      const { moved, came } = edits
      for (let at = 0; at < moved.length; at++) {
        if (moved[at]! >= 0) zones[moved[at]!] = this.#zones[at]!
      }
      for (const at of came) look(at)
    }
    this.#services = services
    this.#zones = zones
    return zones
  }
}

/** The name whose zone counts: for a wildcard, the name below which it matches. */
function apexOf(domainKey: string): string {
  return domainKey.startsWith('*.') ? domainKey.slice(2) : domainKey
}

const noRecords = Object.freeze({ isImplied: true, recordTenants: [], isByDomain: false })

export function planZones(tree: Tree): ZonePlan | undefined {
  if (tree.faulty.settings) return undefined
  const declared = declaredZones(tree.settings?.object, tree.settings?.file)
  const zones = [...declared.zones]
  const implied = new Map<string, number>()
  const services = tree.of.Service
  const zoneOfService = declared.services.of(services, declared.indexOf).slice()
  for (let i = 0; i < services.length; i++) {
    if (zoneOfService[i]! >= 0) continue
    const { domainKey } = services[i]!.file
    if (domainKey === undefined) continue
    const apex = apexOf(domainKey)
    const zone = implied.get(apex)
    if (zone !== undefined) {
      zoneOfService[i] = zone
      continue
    }
    zoneOfService[i] = zones.length
    implied.set(apex, zones.length)
    const nsTtl = tree.settings?.object.spec.defaults?.nsTtl
    zones.push(zoneOf(apex, declared.defaults, { ...noRecords, nsTtl }))
  }
  const { indexOf: declaredAt, hasDefaults } = declared
  return { zones, declaredAt, zoneOfService, hasDefaults }
}

export function enclosingZone(
  name: string,
  indexOf: ReadonlyMap<string, number>,
): number | undefined {
  const own = indexOf.get(name)
  if (own !== undefined) return own
  // Inlined `enclosingNames`: this runs for every service of every compilation.
  for (let dot = name.indexOf('.'); dot < name.length - 1; dot = name.indexOf('.', dot + 1)) {
    const zone = indexOf.get(name.slice(dot + 1))
    if (zone !== undefined) return zone
  }
  return undefined
}

/** The zones of settings that are not read from a file. */
export function zonesDeclaredBy(settings: SettingsObject): readonly PlannedZone[] {
  return declaredZones(settings, undefined).zones
}

function declaredZones(
  settings: SettingsObject | undefined,
  file: ReadFile | undefined,
): DeclaredZones {
  const known = file?.memo.settings as DeclaredZones | undefined
  if (known !== undefined) return known
  const given = settings?.spec.defaults
  const builtIn = partsOf([{ name: builtInNameserver, addresses: [] }], undefined, [])
  const at: YamlPath = ['spec', 'defaults', 'nameservers']
  const defaults = given === undefined ? builtIn : partsOf(given.nameservers, at, [given.soa])
  const zones: PlannedZone[] = []
  const indexOf = new Map<string, number>()
  for (const [i, zone] of (settings?.spec.zones ?? []).entries()) {
    const { key } = checkName(zone.name, false)
    if (key === undefined || indexOf.has(key)) continue
    indexOf.set(key, zones.length)
    const parts = declaredParts(zone, i, given, defaults)
    const nsTtl = zone.nsTtl ?? given?.nsTtl
    const { tenants: recordTenants, delegated: isByDomain = false, serialBase } = zone
    const own = {
      isImplied: false,
      recordTenants,
      isByDomain,
      nsTtl,
      serialBase,
      ...signedBy(zone),
      ...(zone.from !== undefined && { isInbound: true as const }),
      ...(zone.updates === true && { hasUpdates: true as const }),
      ...(zone.splitHorizon === true && { isSplit: true as const }),
    }
    zones.push(zoneOf(key, parts, own))
  }
  const services = new DeclaredZoneOfService()
  const result = { zones, indexOf, defaults, hasDefaults: given !== undefined, services }
  if (file !== undefined) file.memo.settings = result
  return result
}

type OfDnssec = 'algorithm' | 'hasSignals' | 'csync'
type Optional = OfDnssec | 'isInbound' | 'hasUpdates' | 'isSplit'

function signedBy({ dnssec }: Pick<Zone, 'dnssec'>): Pick<PlannedZone, OfDnssec> {
  if (dnssec?.enabled !== true) return {}
  const name = dnssec.algorithm ?? defaultAlgorithm
  const algorithm = signingAlgorithms.find((one) => one.name === name)
  if (algorithm === undefined) return {}
  const { Immediate, SoaMinimum } = CsyncFlag
  return {
    algorithm: algorithm.number,
    ...(dnssec.signals === true && { hasSignals: true }),
    ...(dnssec.csync === 'immediate' && { csync: Immediate }),
    ...(dnssec.csync === 'soaminimum' && { csync: Immediate | SoaMinimum }),
  }
}

function declaredParts(
  zone: SettingsObject['spec']['zones'][number],
  index: number,
  given: SettingsObject['spec']['defaults'],
  defaults: ZoneParts,
): ZoneParts {
  if (zone.nameservers === undefined && zone.soa === undefined) return defaults
  const [nameservers, at]: [readonly Nameserver[], YamlPath | undefined] =
    zone.nameservers === undefined
      ? [given?.nameservers ?? [], defaults.nameserversAt]
      : [zone.nameservers, ['spec', 'zones', index, 'nameservers']]
  return partsOf(nameservers, at, [zone.soa, given?.soa])
}

interface ZoneOwn extends Omit<RecordZone, 'name'>, Pick<PlannedZone, 'isImplied' | Optional> {
  /** Undefined: the TTL of the SOA record. */
  readonly nsTtl: number | undefined
  readonly serialBase?: number
}

function zoneOf(name: string, parts: ZoneParts, zone: ZoneOwn): PlannedZone {
  const { nsTtl, serialBase = 0, ...own } = zone
  const { nameserversAt } = parts
  const soa = serialBase === 0 ? parts.soa : { ...parts.soa, serialBase }
  const hasInside = parts.nameservers.some((server) => isInside(server.name, name))
  const nameservers = hasInside
    ? parts.nameservers.map((server) =>
        isInside(server.name, name) ? server : { ...server, addresses: [] },
      )
    : parts.outside
  return { name, soa, nsTtlSeconds: nsTtl ?? soa.ttlSeconds, nameservers, nameserversAt, ...own }
}

/** @param soas nearest first: each field comes from the first one that has it */
function partsOf(
  nameservers: readonly Nameserver[],
  nameserversAt: YamlPath | undefined,
  soas: readonly (Soa | undefined)[],
): ZoneParts {
  const models = nameservers.map(({ name, addresses }) => ({
    name: checkName(name, false).key ?? name,
    addresses: [...new Set(addresses.map((text) => checkAddress(text).canonical ?? text))],
  }))
  const outside = models.map(({ name }) => ({ name, addresses: [] }))
  return {
    soa: soaOf(models[0]?.name ?? builtInNameserver, soas),
    nameservers: models,
    outside,
    nameserversAt,
  }
}

function soaOf(firstNameserver: string, soas: readonly (Soa | undefined)[]): SoaModel {
  const field = <F extends keyof Soa>(name: F): Soa[F] | undefined =>
    soas.find((soa) => soa?.[name] !== undefined)?.[name]
  const asName = (text: string) => checkName(text, false).key ?? text
  const mname = asName(field('mname') ?? firstNameserver)
  const rname = field('rname') ?? `hostmaster.${mname.slice(mname.indexOf('.') + 1)}`
  return {
    mname,
    rname: checkMailbox(rname).key ?? rname,
    refreshSeconds: field('refresh') ?? soaDefaults.refresh,
    retrySeconds: field('retry') ?? soaDefaults.retry,
    expireSeconds: field('expire') ?? soaDefaults.expire,
    minimumSeconds: field('minimum') ?? soaDefaults.minimum,
    serialBase: 0,
    ttlSeconds: field('ttl') ?? soaDefaults.ttl,
  }
}
