// Makes operations on balanced services of what external-dns wants: the targets of each set
// identifier are members of the one pool of the name.
import { partsIn, etagOf } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { Operation } from '#config/operation.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { parseJson } from '#lib/text/json.ts'
import type { LicenceGate } from '#licence/gate.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { Wanted, WantedByKey } from './changes.ts'
import { addressTypes } from './endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import { setKey } from './held.ts'
import type { Held, HeldService } from './held.ts'
import { isBalanced } from './level.ts'
import {
  healthCheckText,
  memberPortDefault,
  memberRegionDefault,
  memberWeightDefault,
  noHealthCheck,
  targetOf,
  typeOf,
} from './service-endpoints.ts'
import type { PoolMember } from './service-endpoints.ts'

interface Target {
  readonly snapshot: ConfigSnapshot
  readonly tenant: string
  readonly held: Held
  readonly licence: LicenceGate
  readonly nowMs: number
}

export function serviceOperations(
  target: Target,
  wanted: WantedByKey,
): Result<readonly Operation[], Reply> {
  const operations: Operation[] = []
  const concerned = [...wanted.values()].filter(({ endpoint }) =>
    isOfService(endpoint, target.held),
  )
  for (const [name, list] of Map.groupBy(concerned, ({ endpoint }) => endpoint.name)) {
    const made = operationsOf(target, name, list, wanted)
    if (!made.ok) return made
    operations.push(...made.value)
  }
  return ok(operations)
}

function isOfService(endpoint: Endpoint, { services }: Held): boolean {
  if (!addressTypes.includes(endpoint.type)) return false
  return isBalanced(endpoint) || services.has(endpoint.name)
}

function operationsOf(
  target: Target,
  name: string,
  list: readonly Wanted[],
  wanted: WantedByKey,
): Result<readonly Operation[], Reply> {
  const stored = target.held.services.get(name)
  const refusal = refusalOf(target, name, stored, list, wanted)
  if (refusal !== undefined) return err(refusal)
  const changes = memberChanges(target, stored, list)
  const clash = clashRefusal(name, changes)
  if (clash !== undefined) return err(clash)
  if (stored?.pool === undefined) return newService(target, name, list, changes.specs)
  return ok(changedService(target, { ...stored, pool: stored.pool }, list, changes))
}

/** Whether the name is another thing already, and whether its pool may be written for it alone. */
function refusalOf(
  { held, snapshot, tenant }: Target,
  name: string,
  stored: HeldService | undefined,
  list: readonly Wanted[],
  wanted: WantedByKey,
): Reply | undefined {
  const shown = name.slice(0, -1)
  for (const type of [...addressTypes, 'ALIAS']) {
    const goes = wanted.get(`${name} ${type === 'ALIAS' ? 'CNAME' : type} `)
    const isGoing = goes !== undefined && (!goes.isThere || isBalanced(goes.endpoint))
    if (!held.sets.has(setKey(type, name)) || isGoing) continue
    const help = 'give the cluster that writes them a set identifier, too'
    return refused(409, `${shown} has ${type} records beside which it cannot be balanced: ${help}`)
  }
  if (stored !== undefined && stored.pool === undefined) {
    return refused(409, `the service of ${shown} has no pool: give it one`)
  }
  const poolName = stored?.pool?.name ?? list[0]?.endpoint.properties['gslbd/pool'] ?? ''
  const pool = snapshot.find('Pool', tenant, poolName)
  const others = pool === undefined ? [] : snapshot.servicesOf(poolName)
  const other = others.find(({ object, uid }) => {
    return object.spec.pool === poolName && uid !== stored?.service.uid
  })
  if (other === undefined) return undefined
  const domain = other.object.spec.domain.replace(/\.$/, '')
  const help = 'external-dns writes pools of one name: name another one in gslbd/pool'
  return refused(409, `the pool "${poolName}" of ${shown} answers for ${domain}, too; ${help}`)
}

interface MemberChanges {
  /** As they are. */
  readonly members: readonly PoolMember[]
  /** New members. */
  readonly specs: readonly JsonObject[]
  readonly updates: readonly { readonly member: PoolMember; readonly patch: JsonObject }[]
  readonly gone: readonly PoolMember[]
}

function memberChanges(
  { snapshot, tenant }: Target,
  stored: HeldService | undefined,
  list: readonly Wanted[],
): MemberChanges {
  const named = list[0]?.endpoint.properties['gslbd/pool'] ?? ''
  const pool = stored === undefined ? snapshot.find('Pool', tenant, named) : stored.pool
  const members = pool === undefined ? [] : partsIn('Member', pool)
  const specs: JsonObject[] = []
  const updates: { member: PoolMember; patch: JsonObject }[] = []
  const gone: PoolMember[] = []
  for (const { endpoint, isThere } of list) {
    const own = members.filter((one) => {
      return one.name === endpoint.set && typeOf(one) === endpoint.type
    })
    const targets = new Set(isThere && isBalanced(endpoint) ? endpoint.targets : [])
    gone.push(...own.filter((one) => !targets.has(targetOf(one))))
    const fields = fieldsOf(endpoint)
    const byTarget = Map.groupBy(own, targetOf)
    for (const text of targets) {
      const same = byTarget.get(text) ?? []
      if (same.length === 0) specs.push(specOf(endpoint, text, fields))
      for (const member of same) {
        const patch = patchOf(member, fields)
        if (Object.keys(patch).length > 0) updates.push({ member, patch })
      }
    }
  }
  return { members, specs, updates, gone }
}

/** An address and port is one member, so it cannot be that of two set identifiers. */
function clashRefusal(
  name: string,
  { members, specs, updates, gone }: MemberChanges,
): Reply | undefined {
  const leaving = new Set(gone)
  const ports = new Map(updates.map(({ member, patch }) => [member, patch['port']]))
  const sets = new Map<string, string>()
  const staying = members
    .filter((one) => !leaving.has(one))
    .map((one) => [one.name, targetOf(one), ports.get(one) ?? one.port] as const)
  const coming = specs.map((one) => {
    const { name: set = '', ipAddress, hostname, port } = one
    return [set, ipAddress ?? hostname, port] as const
  })
  for (const [set, target, port] of [...staying, ...coming] as [string, string, number][]) {
    const shown = target.replace(/\.$/, '')
    const key = `${shown} port ${port}`
    const other = sets.get(key)
    sets.set(key, set)
    if (shown === '' || other === undefined) continue
    const both = [other, set].map((one) => (one === '' ? 'none' : `"${one}"`)).join(' and ')
    return refused(
      409,
      `${name.slice(0, -1)} is given ${key} twice, by the set identifiers ${both}: one address ` +
        'is one member. Let one cluster alone give it (in a move, take it out of the old one ' +
        'first), or tell them apart by gslbd/port',
    )
  }
  return undefined
}

interface MemberFields {
  readonly weight: number
  readonly region: string
  readonly port: number
}

const fieldsOf = ({ properties }: Endpoint): MemberFields => ({
  weight: Number(properties['gslbd/weight'] ?? memberWeightDefault),
  region: properties['gslbd/region'] ?? memberRegionDefault,
  port: Number(properties['gslbd/port'] ?? memberPortDefault),
})

function specOf({ type, set }: Endpoint, text: string, fields: MemberFields): JsonObject {
  const { weight, region, port } = fields
  return {
    ...(set === '' ? {} : { name: set }),
    ...(type === 'CNAME' ? { hostname: `${text}.` } : { ipAddress: text }),
    port,
    ...(weight === memberWeightDefault ? {} : { weight }),
    ...(region === memberRegionDefault ? {} : { region }),
  }
}

/** A field with its default is removed from the file. */
function patchOf(member: PoolMember, { weight, region, port }: MemberFields): JsonObject {
  return {
    ...(member.weight === weight ? {} : { weight: weight === memberWeightDefault ? null : weight }),
    ...(member.region === region ? {} : { region: region === memberRegionDefault ? null : region }),
    ...(member.port === port ? {} : { port }),
  }
}

const byRegion = ['geo-ip', 'weighted-round-robin']

function newService(
  target: Target,
  name: string,
  list: readonly Wanted[],
  members: readonly JsonObject[],
): Result<readonly Operation[], Reply> {
  const { tenant, licence, snapshot, nowMs } = target
  const [first] = list.filter(({ isThere, endpoint }) => isThere && isBalanced(endpoint))
  if (first === undefined) return ok([])
  const { properties, ttlSeconds } = first.endpoint
  const poolName = properties['gslbd/pool'] ?? ''
  const hasRegions = members.some((one) => one['region'] !== undefined)
  const chainRefusal = hasRegions ? licence.refusal('filter-chains') : undefined
  if (chainRefusal !== undefined) return err(refused(403, chainRefusal))
  const check = checkOf(list)
  const pool = snapshot.find('Pool', tenant, poolName)
  const most = licence.memberLimit()
  if (pool === undefined && most !== undefined && members.length > most.membersMax)
    return err(refused(403, most.refusal))
  const spec = {
    domain: name,
    pool: poolName,
    ...(ttlSeconds === 0 ? {} : { ttl: ttlSeconds }),
    ...(hasRegions ? { filterChain: byRegion } : { algorithm: 'weighted-round-robin' }),
  }
  const service = { verb: 'create', kind: 'Service', tenant, name: name.slice(0, -1) } as const
  const filled: readonly Operation[] =
    pool === undefined
      ? [
          {
            ...{ verb: 'create', kind: 'Pool', tenant, name: poolName },
            spec: { members, ...(check === undefined ? {} : { healthCheck: check }) },
          },
        ]
      : [
          ...members.map((one) => newMember(target, pool, one, nowMs)),
          // Somebody has chosen the check that a pool has already.
          ...(pool.object.spec.healthCheck === undefined
            ? checkOperations(target, pool, list)
            : []),
        ]
  return ok([...filled, { ...service, spec }])
}

/** The check that the request names; undefined: none. */
function checkOf(list: readonly Wanted[]): JsonObject | undefined {
  const texts = list.map(({ endpoint, isThere }) =>
    isThere ? endpoint.properties['gslbd/health-check'] : undefined,
  )
  const text = texts.find((one) => one !== undefined)
  if (text === undefined || text === noHealthCheck) return undefined
  return parseJson(text) as JsonObject
}

function newMember(
  { tenant, licence }: Target,
  { uid }: ConfigEntry<'Pool'>,
  spec: JsonObject,
  atMs: number,
): Operation {
  const most = licence.memberLimit()
  return {
    ...{ verb: 'create', kind: 'Member', owner: { uid, tenant }, spec, atMs },
    ...(most && { limit: { partsMax: most.membersMax, message: most.refusal } }),
  }
}

function changedService(
  target: Target,
  { service, pool }: { service: ConfigEntry<'Service'>; pool: ConfigEntry<'Pool'> },
  list: readonly Wanted[],
  { specs, updates, gone }: MemberChanges,
): readonly Operation[] {
  const { tenant, nowMs: atMs } = target
  const isEmptied = specs.length === 0 && gone.length === partsIn('Member', pool).length
  if (isEmptied && gone.length > 0) {
    return [
      { verb: 'delete', kind: 'Service', target: { uid: service.uid, tenant } },
      {
        ...{ verb: 'delete', kind: 'Pool', target: { uid: pool.uid, tenant } },
        ifMatch: etagOf(pool.object),
      },
    ]
  }
  const on = (member: PoolMember) => ({
    ...{ target: { uid: member.uid, tenant }, ifMatch: etagOf(member), atMs },
  })
  return [
    // First: another set identifier may have the address from now on.
    ...gone.map((member): Operation => ({ verb: 'delete', kind: 'Member', ...on(member) })),
    ...specs.map((one) => newMember(target, pool, one, atMs)),
    ...updates.map(({ member, patch }): Operation => ({
      verb: 'update',
      kind: 'Member',
      ...on(member),
      patch,
    })),
    ...checkOperations(target, pool, list),
    ...serviceChanges(target, service, pool, list, specs, updates),
  ]
}

/** The health check is the name's: `levelled` has filled in what stands. */
function checkOperations(
  { tenant }: Target,
  pool: ConfigEntry<'Pool'>,
  list: readonly Wanted[],
): readonly Operation[] {
  if (!list.some(({ isThere }) => isThere)) return []
  const check = checkOf(list)
  const before = pool.object.spec.healthCheck
  if (healthCheckText(check) === healthCheckText(before)) return []
  const patch = { healthCheck: check ?? null }
  return [{ verb: 'update', kind: 'Pool', target: { uid: pool.uid, tenant }, patch }]
}

/** TTL, and the chain that looks at regions once the first member has one. */
function serviceChanges(
  { tenant, licence }: Target,
  { uid, object }: ConfigEntry<'Service'>,
  pool: ConfigEntry<'Pool'>,
  list: readonly Wanted[],
  specs: readonly JsonObject[],
  updates: MemberChanges['updates'],
): readonly Operation[] {
  const { ttl, filterChain, algorithm } = object.spec
  const ttls = list.filter(({ isThere }) => isThere).map(({ endpoint }) => endpoint.ttlSeconds)
  const wanted = ttls.find((one) => one > 0) ?? ttl
  const had = partsIn('Member', pool).some(({ region }) => region !== memberRegionDefault)
  const has = [...specs, ...updates.map(({ patch }) => patch)].some(
    ({ region }) => region !== undefined && region !== null,
  )
  const isPlain = filterChain.length === 0 && algorithm === 'weighted-round-robin'
  const isNew = isPlain && !had && has && licence.refusal('filter-chains') === undefined
  const patch = {
    ...(wanted === ttl ? {} : { ttl: wanted }),
    ...(isNew ? { filterChain: byRegion, algorithm: null } : {}),
  }
  if (Object.keys(patch).length === 0) return []
  return [{ verb: 'update', kind: 'Service', target: { uid, tenant }, patch }]
}
