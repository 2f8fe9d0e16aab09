// Tells which requests can be planned together: those that alter the answers of no common name.
import { namedPoolsOf } from '#compiler/tree/fallback.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { Operation, PartOperation, Target, WriteRequest } from '#config/operation.ts'
import type { Kind } from '#schemas/kinds.ts'

/** Subjects of one request; a request with more is planned alone. */
const subjectsMax = 256

/**
 * What a request may alter the answers of: pools, services and domains. Two requests without a
 * common one move together what each of them moves alone: at each name one of them moves anybody.
 *
 * @returns null: it is to be planned alone, since it may alter anything
 */
export function subjectsOf(
  config: ConfigSnapshot,
  { operations }: WriteRequest,
): ReadonlySet<string> | null {
  const subjects = new Set<string>()
  for (const operation of operations) {
    const own = subjectsIn(config, operation)
    if (own === null) return null
    for (const subject of own) subjects.add(subject)
    if (subjects.size > subjectsMax) return null
  }
  return subjects
}

type Subjects = readonly string[] | null

function subjectsIn(config: ConfigSnapshot, operation: Operation): Subjects {
  const { kind, verb } = operation
  if (kind === 'Service') return ofService(config, operation)
  if (kind === 'RecordSet') return ofRecords(config, operation)
  if (kind === 'Pool') {
    return verb === 'create' ? [] : ofPool(config, found(config, kind, operation.target))
  }
  if (kind !== 'Member' && kind !== 'GeoRule') return null
  if (verb === 'create') return ofPool(config, found(config, 'Pool', operation.owner))
  const owner = config.part(kind, operation.target.uid)?.owner
  return ofPool(config, owner as ConfigEntry<'Pool'> | undefined)
}

/** A write that finds nothing is refused, whomever it is planned with. */
function ofPool(config: ConfigSnapshot, pool: ConfigEntry<'Pool'> | undefined): Subjects {
  if (pool === undefined) return []
  const services = config.servicesOf(pool.name)
  if (services.length > subjectsMax) return null
  return [`Pool ${pool.name}`, ...services.flatMap((one) => [`Service ${one.uid}`])]
}

function ofService(
  config: ConfigSnapshot,
  operation: Extract<Operation, { kind: Kind }>,
): Subjects {
  const { verb } = operation
  if (verb !== 'create' && verb !== 'update' && verb !== 'rename' && verb !== 'delete') return null
  const service = verb === 'create' ? undefined : found(config, 'Service', operation.target)
  const before = service?.object.spec
  const fields = verb === 'create' ? operation.spec : verb === 'update' ? operation.patch : {}
  const poolUid = 'poolUid' in operation ? operation.poolUid : undefined
  const pools = [
    ...(before === undefined ? [] : namedPoolsOf(before)),
    ...namedPoolsOf({ pool: textOf(fields['pool']), onAllDown: textOf(fields['onAllDown']) ?? '' }),
    ...(poolUid === undefined ? [] : [config.get('Pool', poolUid)?.name ?? '']),
  ]
  const domains = [before?.domain, textOf(fields['domain'])]
  return [
    ...(service === undefined ? [] : [`Service ${service.uid}`]),
    ...pools.map((name) => `Pool ${name}`),
    ...domains.flatMap((name) => (typeof name === 'string' ? [nameSubject(name)] : [])),
  ]
}

/** Types that send clients nowhere. Another type may be what a name elsewhere answers from. */
const leadsNowhere: readonly string[] = ['TXT', 'CAA', 'TLSA', 'SSHFP', 'LOC', 'OPENPGPKEY']

function ofRecords(config: ConfigSnapshot, operation: PartOperation): Subjects {
  const { verb } = operation
  const before = verb === 'create' ? undefined : config.part('RecordSet', operation.target.uid)
  const fields = verb === 'create' ? operation.spec : verb === 'update' ? operation.patch : {}
  const types = [before?.part.type ?? null, textOf(fields['type'])].filter((type) => type !== null)
  return types.length > 0 && types.every((type) => leadsNowhere.includes(type)) ? [] : null
}

const nameSubject = (name: string): string => `name ${name.toLowerCase().replace(/\.$/, '')}`

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function found<K extends Kind>(
  config: ConfigSnapshot,
  kind: K,
  target: Target,
): ConfigEntry<K> | undefined {
  return 'uid' in target
    ? config.get(kind, target.uid)
    : config.find(kind, target.tenant, target.name)
}
