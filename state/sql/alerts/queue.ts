// Alerts and their notices, in the tables `alerts` and `alert_notices`. An alert and its notices
// are written in one transaction, so that a crash does not separate them.
import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import { fairMost } from '#lib/sequence/fair-share.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { alertLimits } from '#state/ports/alerts.ts'
import type {
  AlertChanges,
  AlertEvent,
  AlertNotice,
  AlertStore,
  AlertUpdate,
  SendOutcome,
  Severity,
  StoredAlert,
} from '#state/ports/alerts.ts'
import { inScope } from '#state/sql/database/scope.ts'
import { slices } from '#state/sql/database/limits.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { AlertNoticesTable, AlertsTable, Db } from '#state/sql/database/tables.ts'
import { holdTerm } from './cluster.ts'

type AlertCall = 'listAlerts' | 'record' | 'prune'

export function alertCalls(database: Sql): Pick<AlertStore, AlertCall> {
  return {
    listAlerts: (scope, { state, before, limit }) =>
      database.repeatable(async (db) => {
        let query = db.selectFrom('alerts').selectAll().where(inScope<'alerts'>(scope))
        if (state === 'open') query = query.where('resolved_at_ms', 'is', null)
        if (state === 'resolved') query = query.where('resolved_at_ms', 'is not', null)
        if (before !== '') query = query.where('id', '<', before)
        const rows = await query.orderBy('id', 'desc').limit(limit).execute()
        return rows.map(alertOf)
      }),
    record: (term, changes) =>
      database.once((db) =>
        db.transaction().execute(async (transaction) => {
          if (!(await holdTerm(transaction, term))) return 'term-over'
          await recordAll(transaction, changes)
          return 'recorded'
        }),
      ),
    prune: (nowMs, alertsMax = alertLimits.alertsKeptMax) =>
      database.repeatable(async (db) => {
        const ended = db.deleteFrom('alerts').where('resolved_at_ms', 'is not', null)
        await ended.where('resolved_at_ms', '<', nowMs - alertLimits.alertKeptMs).execute()
        await deleteAbove(db, alertsMax)
        await db.deleteFrom('alert_silences').where('until_ms', '<=', nowMs).execute()
      }),
  }
}

/** Takes from the tenants that have most: what ends of one pushes out nothing of the others. */
async function deleteAbove(db: Db, alertsMax: number): Promise<void> {
  const tenants = await db
    .selectFrom('alerts')
    .select(({ fn }) => ['tenant_id as id', fn.countAll().as('count')])
    .groupBy('tenant_id')
    .execute()
  const counts = tenants.map(({ count }) => Number(count))
  const most = fairMost(counts, alertsMax)
  for (const { id, count } of tenants) {
    if (Number(count) <= most) continue
    const own = db.selectFrom('alerts').select('id').where('tenant_id', '=', id)
    const surplus = own.orderBy('id', 'desc').offset(most)
    const ended = db.deleteFrom('alerts').where('resolved_at_ms', 'is not', null)
    await ended.where('id', 'in', surplus).execute()
  }
}

async function recordAll(db: Db, changes: AlertChanges): Promise<void> {
  const { opened, updated, resolved, nowMs, readyAtMs } = changes
  const notices: NewNotice[] = []
  for (const { alert, channels } of opened) {
    const inserted = await db
      .insertInto('alerts')
      .values(rowOf(alert, channels))
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    if (inserted === undefined) continue
    for (const channelId of channels) {
      const { id: alertId, tenantId } = alert
      notices.push({ channelId, alertId, tenantId, event: 'opened', readyAtMs })
    }
  }
  for (const one of updated) {
    for (const notice of await update(db, one)) notices.push({ ...notice, readyAtMs })
  }
  for (const id of resolved) {
    const { tenantId, channels } = await resolve(db, id, nowMs)
    for (const channelId of channels) {
      notices.push({ channelId, alertId: id, tenantId, event: 'resolved', readyAtMs: nowMs })
    }
  }
  await queue(db, notices, nowMs)
  await holdBack(db, nowMs)
}

/** `raised`: told as opened, to a channel that knows the alert and will be told of its end. */
type StoredEvent = AlertEvent | 'raised'

interface NewNotice {
  readonly channelId: string
  readonly alertId: string
  /** The tenant of the alert. */
  readonly tenantId: string
  readonly event: StoredEvent
  readonly readyAtMs: number
}

/** @returns notices of a rise; one that was not sent yet tells it by itself */
async function update(
  db: Db,
  { id: alertId, severity, title, detail, channels }: AlertUpdate,
): Promise<readonly Omit<NewNotice, 'readyAtMs'>[]> {
  const named = db.updateTable('alerts').where('id', '=', alertId)
  const set = named.set({ severity, title, detail })
  const row = await set.returning(['channels', 'tenant_id']).executeTakeFirst()
  if (row === undefined || channels.length === 0) return []
  const known = new Set(JSON.parse(row.channels) as string[])
  await named.set({ channels: JSON.stringify([...known.union(new Set(channels))]) }).execute()
  const waiting = await db
    .selectFrom('alert_notices')
    .select('channel_id')
    .where('alert_id', '=', alertId)
    .where('message_id', '=', '')
    .execute()
  const knowing = new Set(waiting.map(({ channel_id }) => channel_id))
  const tenantId = row.tenant_id
  return channels
    .filter((channelId) => !knowing.has(channelId))
    .map((channelId) => {
      const event = known.has(channelId) ? 'raised' : 'opened'
      return { channelId, alertId, tenantId, event }
    })
}

/**
 * @returns the alert's tenant, and channels that may have been notified; for others it never began
 */
async function resolve(
  db: Db,
  id: string,
  nowMs: number,
): Promise<{ readonly tenantId: string; readonly channels: readonly string[] }> {
  const row = await db
    .updateTable('alerts')
    .set({ resolved_at_ms: nowMs })
    .where('id', '=', id)
    .where('resolved_at_ms', 'is', null)
    .returning(['channels', 'tenant_id'])
    .executeTakeFirst()
  if (row === undefined) return { tenantId: '', channels: [] }
  const dropped = await db
    .deleteFrom('alert_notices')
    .where('alert_id', '=', id)
    .where('message_id', '=', '')
    .returning(['channel_id', 'event'])
    .execute()
  const names = new Set(
    dropped.flatMap(({ channel_id, event }) => (event === 'opened' ? channel_id : [])),
  )
  const all = JSON.parse(row.channels) as string[]
  return { tenantId: row.tenant_id, channels: all.filter((channel) => !names.has(channel)) }
}

/**
 * Notices beyond a channel's limit are counted, not kept. Half of the places of the operator's
 * channels are for what is wrong with the installation: no tenant can fill them.
 */
async function queue(db: Db, notices: readonly NewNotice[], nowMs: number): Promise<void> {
  const channels = [...new Set(notices.map(({ channelId }) => channelId))]
  if (channels.length === 0) return
  const present = await db
    .selectFrom('alert_channels')
    .select((from) => [
      'id',
      'tenant_id',
      from
        .selectFrom('alert_notices')
        .select((queued) => queued.fn.countAll<number>().as('count'))
        .whereRef('alert_notices.channel_id', '=', 'alert_channels.id')
        .as('queued'),
    ])
    .where('id', 'in', channels)
    .where('enabled', '=', true)
    .execute()
  const { noticesPerChannelMax } = alertLimits
  const room = new Map(
    present.map(({ id, queued }) => [id, noticesPerChannelMax - Number(queued ?? 0)]),
  )
  const owners = new Map(present.map(({ id, tenant_id }) => [id, tenant_id]))
  const dropped = new Map<string, number>()
  const rows: Selectable<AlertNoticesTable>[] = []
  for (const { channelId, alertId, tenantId, event, readyAtMs } of notices) {
    const free = room.get(channelId)
    if (free === undefined) continue
    if (free <= (tenantId === owners.get(channelId) ? 0 : noticesPerChannelMax / 2)) {
      dropped.set(channelId, (dropped.get(channelId) ?? 0) + 1)
      continue
    }
    room.set(channelId, free - 1)
    rows.push({
      ...{ id: uuidV7(nowMs), channel_id: channelId, alert_id: alertId, event },
      ...{ message_id: '', ready_at_ms: readyAtMs, created_at_ms: nowMs },
    })
  }
  for (const some of slices(rows)) await db.insertInto('alert_notices').values(some).execute()
  for (const [id, count] of dropped) await addDropped(db, id, count)
}

/** The day in which a notice is sent begins when no silence holds it back any more. */
export async function holdBack(db: Db, nowMs: number): Promise<void> {
  const untilMs = sql<number>`(
    select max(s.until_ms) from alert_silences s, alert_channels c, alerts a
    where c.id = alert_notices.channel_id and a.id = alert_notices.alert_id
      and ${silences}
  )`
  await db
    .updateTable('alert_notices')
    .set({ created_at_ms: untilMs })
    .where('event', '!=', 'resolved')
    .where('message_id', '=', '')
    .where(untilMs, '>', sql<number>`greatest(created_at_ms, ${nowMs})`)
    .execute()
}

/** Whether the silence s holds back what the channel c is told of the alert a. */
const silences = sql<boolean>`s.tenant_id = c.tenant_id
  and (s.condition = '' or s.condition = a.condition)
  and (s.subject = '' or s.subject = a.subject)`

async function addDropped(db: Db, channelId: string, count: number): Promise<void> {
  if (count === 0) return
  await db
    .updateTable('alert_channels')
    .set({ dropped: sql<number>`dropped + ${count}` })
    .where('id', '=', channelId)
    .execute()
}

type NoticeCall = 'due' | 'beginMessage' | 'settleMessage'

export function noticeCalls(database: Sql): Pick<AlertStore, NoticeCall> {
  return {
    due: (nowMs, busy) => database.repeatable((db) => due(db, nowMs, busy)),
    beginMessage: (term, messageId, noticeIds) =>
      database.once((db) =>
        db.transaction().execute(async (transaction) => {
          if (!(await holdTerm(transaction, term))) return 'term-over'
          const named = transaction.selectFrom('alert_notices').select('id').forUpdate()
          const there = await named.where('id', 'in', noticeIds).execute()
          if (there.length !== noticeIds.length) return 'term-over'
          await transaction
            .updateTable('alert_notices')
            .set({ message_id: messageId })
            .where('id', 'in', noticeIds)
            .execute()
          return 'begun'
        }),
      ),
    settleMessage: (channelId, messageId, outcome, times) =>
      database.repeatable((db) =>
        db
          .transaction()
          .execute((transaction) => settle(transaction, channelId, messageId, outcome, times)),
      ),
  }
}

async function due(
  db: Db,
  nowMs: number,
  busy: readonly string[],
): Promise<readonly AlertNotice[]> {
  // A silence applies to the channels of its tenant, but not to notices that were tried already.
  const silenced = sql<boolean>`exists (
    select 1 from alert_silences s
    where s.until_ms > ${nowMs} and ${silences}
  )`
  const rank = sql<number>`row_number() over (
    partition by n.channel_id order by (n.message_id = ''), n.id
  )`
  const ready = db
    .selectFrom('alert_notices as n')
    .innerJoin('alert_channels as c', 'c.id', 'n.channel_id')
    .innerJoin('alerts as a', 'a.id', 'n.alert_id')
    .select(['n.id as notice_id', 'n.channel_id', 'n.event', 'n.message_id'])
    .selectAll('a')
    .select(rank.as('rank'))
    .where('c.enabled', '=', true)
    .where('c.retry_at_ms', '<=', nowMs)
    .where('n.ready_at_ms', '<=', nowMs)
    .where((at) =>
      at.or([at('n.event', '=', 'resolved'), at('n.message_id', '!=', ''), at.not(silenced)]),
    )
    .$if(busy.length > 0, (query) => query.where('n.channel_id', 'not in', busy))
  const rows = await db
    .selectFrom(ready.as('ready'))
    .selectAll()
    .where('rank', '<=', alertLimits.noticesPerMessageMax)
    .orderBy('channel_id')
    .orderBy('rank')
    .execute()
  return rows.map((row) => ({
    id: row.notice_id,
    channelId: row.channel_id,
    event: row.event === 'resolved' ? 'resolved' : 'opened',
    messageId: row.message_id,
    alert: alertOf(row),
  }))
}

async function settle(
  db: Db,
  channelId: string,
  messageId: string,
  outcome: SendOutcome,
  { nowMs, retryAtMs }: { readonly nowMs: number; readonly retryAtMs: number },
): Promise<void> {
  const ofMessage = db
    .deleteFrom('alert_notices')
    .where('channel_id', '=', channelId)
    .where('message_id', '=', messageId)
  const channel = db.updateTable('alert_channels').where('id', '=', channelId)
  if (outcome.ok) {
    await ofMessage.execute()
    const fault = (outcome.fault ?? '').slice(0, alertLimits.faultLengthMax)
    const well = { failures: 0, fault, retry_at_ms: 0 }
    await channel.set({ ...well, last_sent_at_ms: nowMs }).execute()
    return
  }
  const beforeMs = outcome.isFinal ? Infinity : nowMs - alertLimits.noticeKeptMs
  const old = beforeMs === Infinity ? ofMessage : ofMessage.where('created_at_ms', '<', beforeMs)
  const { numDeletedRows } = await old.executeTakeFirst()
  await addDropped(db, channelId, Number(numDeletedRows))
  await channel
    .set({
      failures: sql<number>`failures + 1`,
      fault: outcome.fault.slice(0, alertLimits.faultLengthMax),
      retry_at_ms: retryAtMs,
    })
    .execute()
}

function rowOf(alert: StoredAlert, channels: readonly string[]): Selectable<AlertsTable> {
  const { id, condition, severity, subject, node, title, detail } = alert
  return {
    ...{ id, tenant_id: alert.tenantId, condition, severity, subject, node, title, detail },
    channels: JSON.stringify(channels),
    opened_at_ms: alert.openedAtMs,
    resolved_at_ms: alert.resolvedAtMs,
  }
}

function alertOf(row: Omit<Selectable<AlertsTable>, 'channels'>): StoredAlert {
  const { id, condition, subject, node, title, detail } = row
  return {
    ...{ id, tenantId: row.tenant_id, condition, subject, node, title, detail },
    severity: row.severity as Severity,
    openedAtMs: row.opened_at_ms,
    resolvedAtMs: row.resolved_at_ms,
  }
}
