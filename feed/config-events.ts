// Derives events from a change of the configuration, by comparing what the API shows before and
// after.
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import type { ConfigChange } from '#config/view.ts'
import { byName } from '#lib/sequence/order.ts'
import type { EffectiveView } from '#config/overlays/effective.ts'
import { showMember } from '#api/resources/member.ts'
import { showPool } from '#api/resources/pool.ts'
import { showService } from '#api/resources/service.ts'
import { memberMessage, messageOf } from './messages.ts'
import type { Action, FeedEvent } from './messages.ts'

/** Members before and after, with their rollouts and windows. */
interface Views {
  readonly before: EffectiveView
  readonly after: EffectiveView
}

/** A service's event follows that of its pool. */
export function configEvents(
  { before, after, created, updated, deleted }: ConfigChange,
  views: Views,
): FeedEvent[] {
  const changes: Change[] = [
    ...deleted.map((entry) => ({ before: entry, after: null })),
    ...created.map((entry) => ({ before: null, after: entry })),
    ...updated.flatMap(inOneTenant),
  ]
  const pools = changes.filter(isOf('Pool'))
  const services = [...changes.filter(isOf('Service')), ...carriedAlong(pools, before, after)]
  return [
    ...pools.flatMap((pool) => poolEvents(pool, views)),
    ...services.flatMap((service) => serviceEvents(service, before, after)),
  ]
}

/** null: the object did not exist then. */
interface Change<Entry extends ConfigEntry = ConfigEntry> {
  readonly before: Entry | null
  readonly after: Entry | null
}

function isOf<K extends 'Pool' | 'Service'>(kind: K) {
  return (change: Change): change is Change<ConfigEntry<K>> =>
    (change.after ?? change.before)?.kind === kind
}

/** Splits the move of an object: each tenant sees its own half. */
function inOneTenant({ before, after }: ConfigChange['updated'][number]): Change[] {
  if (before.tenant === after.tenant) return [{ before, after }]
  return [
    { before, after: null },
    { before: null, after },
  ]
}

/** Services whose pool appeared or vanished, though their own files did not change. */
function carriedAlong(
  pools: readonly Change<ConfigEntry<'Pool'>>[],
  before: ConfigSnapshot,
  after: ConfigSnapshot,
): Change<ConfigEntry<'Service'>>[] {
  const services = new Set<ConfigEntry<'Service'>>()
  for (const pool of pools) {
    if (pool.before?.name === pool.after?.name) continue
    for (const entry of [pool.before, pool.after]) {
      for (const service of entry === null ? [] : after.servicesOf(entry.name)) {
        const isOwn = service.tenant === entry!.tenant && service.object.spec.pool === entry!.name
        if (isOwn && before.get('Service', service.uid) === service) services.add(service)
      }
    }
  }
  const sorted = [...services].sort(byName)
  return sorted.map((service) => ({ before: service, after: service }))
}

function poolEvents(change: Change<ConfigEntry<'Pool'>>, views: Views): FeedEvent[] {
  const entry = change.after ?? change.before
  if (entry === null) return []
  const action = actionOf(change, showPool)
  const own =
    action === null
      ? []
      : [
          {
            tenant: entry.tenant,
            message: messageOf('pool_update', { action, pool: showPool(entry) }),
          },
        ]
  const members = memberEvents(change, views)
  // A pool is created before its members, and deleted after them.
  return action === 'deleted' ? [...members, ...own] : [...own, ...members]
}

function memberEvents({ before, after }: Change<ConfigEntry<'Pool'>>, views: Views): FeedEvent[] {
  const old = membersOf(before)
  const now = membersOf(after)
  const { uid = '', tenant = '' } = after ?? before ?? {}
  const all = [...old.values().filter((one) => !now.has(one.uid)), ...now.values()]
  return all.flatMap((member) => {
    const [was, is] = [old.get(member.uid) ?? null, now.get(member.uid) ?? null]
    const shown = {
      before: was === null ? null : showMember(uid, was, views.before),
      after: is === null ? null : showMember(uid, is, views.after),
    }
    const action = actionOf(shown, (one) => one)
    if (action === null) return []
    const view = action === 'deleted' ? views.before : views.after
    return [{ tenant, message: memberMessage(action, uid, member, view) }]
  })
}

function membersOf(pool: ConfigEntry | null) {
  const members = pool === null ? [] : partsIn('Member', pool)
  return new Map(members.map((member) => [member.uid, member]))
}

function serviceEvents(
  change: Change<ConfigEntry<'Service'>>,
  before: ConfigSnapshot,
  after: ConfigSnapshot,
): FeedEvent[] {
  const shown = {
    before: change.before === null ? null : showService(before, change.before),
    after: change.after === null ? null : showService(after, change.after),
  }
  const action = actionOf(shown, (service) => service)
  const { tenant } = change.after ?? change.before ?? { tenant: '' }
  if (action === null) return []
  const service = shown.after ?? shown.before
  return [{ tenant, message: messageOf('service_update', { action, service }) }]
}

/** @returns null: the API shows no difference */
function actionOf<T>(
  { before, after }: { readonly before: T | null; readonly after: T | null },
  show: (value: T) => object,
): Action | null {
  if (before === null) return after === null ? null : 'created'
  if (after === null) return 'deleted'
  return JSON.stringify(show(before)) === JSON.stringify(show(after)) ? null : 'updated'
}
