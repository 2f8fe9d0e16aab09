// Lowers a checked tree to the encoder's model: defaults applied, references as positions.
import { poolFieldsAsWritten } from '#bundle/format/model.ts'
import type {
  BundleModel,
  MemberModel,
  OnAllDown,
  PoolAsWritten,
  PoolModel,
  RoutingModel,
  ServiceModel,
  HealthCheckModel,
} from '#bundle/format/model.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { assert } from '#lib/assert.ts'
import { SteadyList } from '#lib/sequence/steady-list.ts'
import type { Member } from '#schemas/objects/member.ts'
import type { PoolSpec } from '#schemas/objects/pool.ts'
import type { ServiceSpec } from '#schemas/objects/service.ts'
import { algorithmNamed, filterNamed } from '#routing/choose/ways.ts'
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import { RrType } from '#dns/rrtype.ts'
import { aliasCode, hostIn } from '#compiler/values/record-sets.ts'
import { isHostname, targetOf } from '#compiler/values/member-target.ts'
import { memberUid, objectUid } from '#compiler/read/identity.ts'
import type { OverlayKind, OverlayPlan, Planned } from './overlay-plan.ts'
import type { RecordPlan } from './record-plan.ts'
import type { ResponsePlan } from './response-plan.ts'
import type { RedirectPlan } from './redirect-plan.ts'
import { PoolSlots } from './pool-slots.ts'
import { routingModel } from './routing-model.ts'
import type { Entry, PlannedRrset, Tree } from '#compiler/tree/tree.ts'
import { geoRangesOf } from '#compiler/values/written-rules.ts'
import type { ZonePlan } from './zone-plan.ts'
import type { CheckFields } from '#probes/check-field.ts'
import { probeFields } from '#probes/probe-types.ts'
import { HealthCheck } from '#schemas/objects/health-check.ts'

interface Plans {
  readonly zones: ZonePlan
  readonly records: RecordPlan
  readonly responses: ResponsePlan
  readonly redirects: RedirectPlan
  readonly overlays: OverlayPlan
}

/** Keeps the positions of pools, and the lists of the last model. */
export class LowerMemory {
  readonly slots = new PoolSlots()
  readonly pools = new SteadyList<PoolModel>()
  readonly services = new SteadyList<ServiceModel>()
}

/**
 * @param tree without errors
 * @param memory of the previous model, made of this tree's entries as far as they are old
 */
export function lower(
  tree: Tree,
  { zones: plan, records, responses, redirects, overlays }: Plans,
  commit: string,
  memory = new LowerMemory(),
): BundleModel {
  const { slots } = memory
  const areKept = slots.place(tree.of.Pool)
  const count = slots.placed.length
  memory.pools.begin()
  memory.services.begin()
  for (let i = 0; i < count; i++) memory.pools.add(poolModel(slots.placed[i]!))
  for (let i = 0; i < tree.of.Service.length; i++) {
    const entry = tree.of.Service[i]!
    const zone = plan.zoneOfService[i]!
    const { service: known } = entry.derived
    const isKnown = areKept && known?.zone === zone && isWithin(known, count)
    memory.services.add(isKnown ? known : loweredService(entry, zone, slots.at))
  }
  const written = writtenCsync(plan.zones, records.rrsets)
  const zones = plan.zones.map(({ name, soa, nsTtlSeconds, nameservers, ...zone }) => ({
    ...{ name, soa, nsTtlSeconds, nameservers },
    ...(zone.algorithm !== undefined && { algorithm: zone.algorithm }),
    ...(zone.hasSignals === true && { hasSignals: zone.hasSignals }),
    ...(zone.csync !== undefined && !written.has(name) && { csync: zone.csync }),
  }))
  for (const [i, rrset] of records.addressAliases.entries()) {
    const { pool, service } = loweredAlias(rrset, count + i)
    memory.pools.add(pool)
    memory.services.add(service)
  }
  const rrsets = records.rrsets.filter(({ model }) => model.type !== aliasCode)
  return {
    commit,
    zones,
    pools: memory.pools.take(),
    services: memory.services.take(),
    rrsets: rrsets.map(({ model }) => model),
    routing: withAbsent(routingModel(tree.settings), records.absent),
    responseRules: responses.rules.map(({ model }) => model),
    redirects: redirects.redirects.map(({ model }) => model),
    rollouts: overlays.rollouts.map((planned) => overlayModel(planned, slots)),
    windows: overlays.windows.map((planned) => overlayModel(planned, slots)),
  }
}

function withAbsent(routing: RoutingModel, absentZones: readonly string[]): RoutingModel {
  return absentZones.length === 0 ? routing : { ...routing, absentZones }
}

/** Whether its pools are at positions that did not go. */
function isWithin({ pool, onAllDown }: ServiceModel, count: number): boolean {
  return pool < count && (typeof onAllDown === 'string' || onAllDown.pool < count)
}

/** Zones whose CSYNC record somebody has written. */
function writtenCsync(
  zones: ZonePlan['zones'],
  rrsets: Plans['records']['rrsets'],
): ReadonlySet<string> {
  if (zones.every(({ csync }) => csync === undefined)) return new Set()
  const written = rrsets.filter(({ model }) => model.type === RrType.CSYNC)
  return new Set(written.map(({ model }) => model.name))
}

/** Reuses the previous model of the service where it is the same. */
function loweredService(
  entry: Entry<'Service'>,
  zone: number,
  indexOfPool: ReadonlyMap<string, number>,
): ServiceModel {
  const { service: known } = entry.derived
  const { spec } = entry.object
  const pool = spec.pool === null ? -1 : indexOfPool.get(spec.pool)
  assert(pool !== undefined, 'the pool of a service without errors exists')
  const rows = { zone, pool, onAllDown: onAllDownOf(spec, indexOfPool) }
  if (known !== undefined && hasRows(known, rows)) return known
  // All other fields depend on the entry alone.
  const model = known === undefined ? serviceModel(entry, rows) : { ...known, ...rows }
  return (entry.derived.service = model)
}

/** Fields of a service that depend on other objects. */
type ServiceRows = Pick<ServiceModel, 'zone' | 'pool' | 'onAllDown'>

function hasRows({ zone, pool, onAllDown }: ServiceModel, rows: ServiceRows): boolean {
  return zone === rows.zone && pool === rows.pool && isSameOnAllDown(onAllDown, rows.onAllDown)
}

function isSameOnAllDown(a: OnAllDown, b: OnAllDown): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && a.pool === b.pool)
}

function serviceModel(
  entry: Entry<'Service'>,
  { zone, pool, onAllDown }: ServiceRows,
): ServiceModel {
  const { metadata, spec } = entry.object
  const { domainKey } = entry.file
  const algorithm = algorithmNamed(spec.algorithm || defaultAlgorithm)?.name
  assert(domainKey !== undefined, 'a service without errors has a domain')
  assert(algorithm !== undefined, 'the algorithms of the schema are in the table')
  return {
    uid: entry.uid,
    name: metadata.name,
    tenant: entry.tenant,
    domain: domainKey,
    zone,
    algorithm,
    filterChain: spec.filterChain.map(canonicalFilter),
    onAllDown,
    answerCount: spec.answerCount,
    ttlSeconds: spec.ttl,
    pool,
  }
}

function overlayModel<Model extends object>(
  { model, poolEntry }: Pick<Planned<OverlayKind, Model>, 'model' | 'poolEntry'>,
  { at }: PoolSlots,
): Model & { readonly pool: number } {
  const pool = poolEntry && at.get(poolEntry.object.metadata.name)
  assert(model !== undefined, 'an overlay without errors has times and a target')
  assert(pool !== undefined, 'the pool of an overlay without errors exists')
  return { ...model, pool }
}

/** The algorithm cell of a service with a chain. */
const defaultAlgorithm = 'round-robin'

function canonicalFilter(text: string): string {
  const use = filterNamed(text)
  assert(use !== undefined, 'the filters of a service without errors are in the table')
  return text.includes(':') ? `${use.way.name}:${use.argument}` : use.way.name
}

function onAllDownOf(spec: ServiceSpec, indexOfPool: ReadonlyMap<string, number>): OnAllDown {
  const fallback = fallbackPoolOf(spec)
  if (fallback === undefined) return spec.onAllDown === 'all' ? 'all' : 'empty'
  const pool = indexOfPool.get(fallback)
  assert(pool !== undefined, 'the fallback of a service without errors exists')
  return { pool }
}

function poolModel(entry: Entry<'Pool'>): PoolModel {
  return (entry.derived.pool ??= newPoolModel(entry))
}

function newPoolModel({ uid, tenant, object: { metadata, spec } }: Entry<'Pool'>): PoolModel {
  return {
    uid,
    name: metadata.name,
    tenant,
    members: spec.members.map((member) => memberModel(member, uid)),
    ...asWritten(spec),
    healthCheck: healthCheckModel(spec.healthCheck),
    geoRules: geoRangesOf(spec.geoRules),
  }
}

function asWritten(spec: PoolSpec): PoolAsWritten {
  const fields = poolFieldsAsWritten.map((name) => [name, spec[name]])
  return Object.fromEntries(fields) as PoolAsWritten
}

function memberModel(member: Member, poolUid: string): MemberModel {
  const target = targetOf(member)
  const hasHostname = isHostname(member)
  return {
    uid: member.uid?.toLowerCase() ?? memberUid(poolUid, target, member.port),
    name: member.name,
    ipAddress: hasHostname ? '' : target,
    hostname: hasHostname ? target : '',
    port: member.port,
    weight: member.weight,
    priority: member.priority,
    enabled: member.enabled,
    region: member.region === '' ? 'unknown' : member.region,
    warmupThreshold: member.warmupThreshold,
    // Browsers measure fixed addresses; those of a host name change.
    rumUrl: hasHostname ? '' : member.rumUrl,
    externalSignalMode: member.externalSignalMode,
  }
}

/** An ALIAS record: a pool of one host name, and a service that answers all of its addresses. */
interface LoweredAlias {
  readonly pool: PoolModel
  readonly service: ServiceModel
}

/** The same objects as long as the record and the position of its pool stay. */
const knownAliases = new WeakMap<PlannedRrset, LoweredAlias>()

/** DNS gives no port, and the member is not probed. */
const port = 443

/** @param position position of its pool */
function loweredAlias(rrset: PlannedRrset, position: number): LoweredAlias {
  const before = knownAliases.get(rrset)
  if (before?.service.pool === position) return before
  const lowered = aliasModels(rrset, position)
  knownAliases.set(rrset, lowered)
  return lowered
}

function aliasModels({ entry: { tenant }, model }: PlannedRrset, position: number): LoweredAlias {
  const { name: domain, zone, ttlSeconds, type } = model
  // Contains a blank, which no object's name has.
  const name = `ALIAS ${domain}`
  const uid = objectUid(tenant, 'Pool', name)
  const hostname = hostIn(type, model.rdata[0]!)
  const member = {
    uid: memberUid(uid, hostname, port),
    name: '',
    ipAddress: '',
    hostname,
    port,
    weight: 1,
    priority: 0,
    enabled: true,
    region: 'unknown',
    warmupThreshold: 0,
    rumUrl: '',
    externalSignalMode: 'and' as const,
  }
  return {
    pool: {
      uid,
      name,
      tenant,
      members: [member],
      answer: 'addresses',
      minHealthy: 0,
      healthCheck: null,
      geoRules: { v4: [], v6: [] },
    },
    service: {
      uid: objectUid(tenant, 'Service', name),
      name,
      tenant,
      domain,
      zone,
      algorithm: 'round-robin',
      filterChain: [],
      onAllDown: 'empty',
      answerCount: bundleLimits.slotsPerHostname,
      ttlSeconds,
      pool: position,
    },
  }
}

const checkFields: CheckFields = probeFields
const checkNames = Object.keys(HealthCheck.properties) as (keyof HealthCheck)[]

/** In the order of the schema, whatever the order in the file. */
function healthCheckModel(check: HealthCheck | undefined): HealthCheckModel | null {
  if (check === undefined) return null
  const lowered = checkNames.map((name) => {
    const lower = checkFields[name]?.lower
    return [name, lower === undefined ? check[name] : lower(check[name])]
  })
  return Object.fromEntries(lowered) as HealthCheckModel
}
