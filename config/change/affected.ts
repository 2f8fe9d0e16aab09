// Lists what else is deleted, or loses something, when an operation deletes an object, or takes the
// pool of a service away.
import { fallbackPoolOf } from '#compiler/tree/fallback.ts'
import type { Draft } from '#config/draft.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { Operation } from '#config/operation.ts'
import { overlaysOf } from './references.ts'

/**
 * Lists what else goes, from a draft to which the operation is not applied yet. Everything listed
 * belongs to the tenant of the deleted object.
 * @returns sentences without a full stop; empty when nothing else depends on the object
 */
export function affectedBy(draft: Draft, operation: Operation): readonly string[] {
  if (operation.verb === 'update') return affectedByUpdate(draft, operation)
  if (operation.verb !== 'delete') return []
  if (operation.kind === 'Member') {
    const found = draft.part('Member', operation.target)
    if (found === undefined) return []
    const pool = found.owner as ConfigEntry<'Pool'>
    const member = found.part as Parameters<typeof overlaysOf>[2]
    return Array.from(overlaysOf(draft, pool, member), overlaySentence)
  }
  if (operation.kind !== 'Pool') return []
  const pool = draft.find('Pool', operation.target)
  return pool === undefined ? [] : affectedByPool(draft, pool)
}

/** A PUT without `poolId` takes the pool away, which not everybody means. */
function affectedByUpdate(
  draft: Draft,
  { kind, target, patch }: Extract<Operation, { readonly verb: 'update' }>,
): readonly string[] {
  if (kind !== 'Service' || patch['pool'] !== null) return []
  const service = draft.find('Service', target)
  return service === undefined || service.object.spec.pool === null ? [] : [leftAlone(service.name)]
}

const leftAlone = (name: string): string => `service "${name}" is left without a pool`

function affectedByPool(draft: Draft, pool: ConfigEntry<'Pool'>): string[] {
  const users = draft.servicesOf(pool.name).filter(({ tenant }) => tenant === pool.tenant)
  const services = users
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, object: { spec } }) => [
      ...(spec.pool === pool.name ? [leftAlone(name)] : []),
      ...(fallbackPoolOf(spec) === pool.name ? [`service "${name}" loses its fallback`] : []),
    ])
  const { members, geoRules, healthCheck } = pool.object.spec
  const parts = [
    ...counted(members.length, 'member'),
    ...counted(geoRules?.length ?? 0, 'geo rule'),
    ...(healthCheck === undefined ? [] : ['its health check goes']),
  ]
  return [...services, ...Array.from(overlaysOf(draft, pool, undefined), overlaySentence), ...parts]
}

function counted(count: number, noun: string): string[] {
  if (count === 0) return []
  return [count === 1 ? `1 ${noun} goes` : `${count} ${noun}s go`]
}

function overlaySentence({ kind, name }: ConfigEntry): string {
  return `${kind === 'Rollout' ? 'rollout' : 'maintenance window'} "${name}" goes`
}
