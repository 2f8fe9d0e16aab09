// Channels and silences of alerts in the tables `alert_channels` and `alert_silences`.
import type { Selectable } from 'kysely'
import { alertLimits } from '#state/ports/alerts.ts'
import type {
  AlertStore,
  ChannelChange,
  ChannelSettings,
  ChannelWithHealth,
  Severity,
  StoredChannel,
  StoredSilence,
} from '#state/ports/alerts.ts'
import { withFaults } from '#state/ports/store-result.ts'
import type { TenantScope } from '#state/ports/tenant-scope.ts'
import { asOnlyWriter, countRows, deleteRow, inScope } from '#state/sql/database/scope.ts'
import type { Sql } from '#state/sql/database/sql.ts'
import type { AlertChannelsTable, AlertSilencesTable, Db } from '#state/sql/database/tables.ts'
import { holdBack } from './queue.ts'

type ChannelCall =
  'listChannels' | 'findChannel' | 'createChannel' | 'updateChannel' | 'deleteChannel'

export function channelCalls(database: Sql): Pick<AlertStore, ChannelCall> {
  return {
    listChannels: (scope) =>
      database.repeatable(async (db) => {
        const rows = await channelsOf(db, scope).orderBy('name').orderBy('id').execute()
        return rows.map(channelOf)
      }),
    findChannel: (scope, id) => database.repeatable((db) => find(db, scope, id)),
    createChannel: (channel) =>
      withFaults(
        database.once((db) => create(db, channel)),
        {
          'name-taken': nameTaken,
          'too-many-channels': tooManyChannels,
        },
      ),
    updateChannel: (scope, id, change) =>
      withFaults(
        database.once((db) => update(db, scope, id, change)),
        { 'name-taken': nameTaken },
      ),
    deleteChannel: (scope, id) => database.once((db) => deleteRow(db, 'alert_channels', scope, id)),
  }
}

const nameTaken = 'Another channel has this name.'
const { channelsPerTenantMax: perTenantMax, channelsMax: max } = alertLimits
const tooManyChannels = `A tenant has at most ${perTenantMax} channels, and all have ${max}.`

async function create(
  db: Db,
  channel: StoredChannel,
): Promise<undefined | 'name-taken' | 'too-many-channels'> {
  return await asOnlyWriter(db, 'alert_channels', async (transaction) => {
    if (await isNamed(transaction, channel.tenantId, channel.name)) return 'name-taken'
    const { own, all } = await countRows(transaction, 'alert_channels', channel.tenantId)
    if (own >= perTenantMax || all >= max) return 'too-many-channels'
    const { id, tenantId: tenant_id, kind, createdAtMs: created_at_ms } = channel
    await transaction
      .insertInto('alert_channels')
      .values({ id, tenant_id, kind, created_at_ms, ...columnsOf(channel) })
      .execute()
    return undefined
  })
}

async function update(
  db: Db,
  scope: TenantScope,
  id: string,
  change: ChannelChange,
): Promise<ChannelWithHealth | null | 'name-taken'> {
  return await asOnlyWriter(db, 'alert_channels', async (transaction) => {
    const before = await find(transaction, scope, id)
    if (before === null) return null
    const name = change.name ?? before.name
    if (name !== before.name && (await isNamed(transaction, before.tenantId, name))) {
      return 'name-taken'
    }
    // The changed settings may have caused the failures.
    const anew = { failures: 0, fault: '', retry_at_ms: 0 }
    await transaction
      .updateTable('alert_channels')
      .set({ ...columnsOf(change), ...anew })
      .where('id', '=', id)
      .execute()
    if (change.enabled === false) {
      await transaction.deleteFrom('alert_notices').where('channel_id', '=', id).execute()
    }
    return await find(transaction, scope, id)
  })
}

async function isNamed(db: Db, tenantId: string, name: string): Promise<boolean> {
  const named = db
    .selectFrom('alert_channels')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('name', '=', name)
  return (await named.executeTakeFirst()) !== undefined
}

async function find(db: Db, scope: TenantScope, id: string): Promise<ChannelWithHealth | null> {
  const row = await channelsOf(db, scope).where('id', '=', id).executeTakeFirst()
  return row === undefined ? null : channelOf(row)
}

const channelsOf = (db: Db, scope: TenantScope) =>
  db
    .selectFrom('alert_channels')
    .selectAll()
    .select((from) =>
      from
        .selectFrom('alert_notices')
        .select((notices) => notices.fn.countAll<number>().as('count'))
        .whereRef('alert_notices.channel_id', '=', 'alert_channels.id')
        .as('queued'),
    )
    .where(inScope<'alert_channels'>(scope))

type Changed = 'name' | 'target' | 'settings' | 'secret_ciphertext' | 'secrets' | 'conditions'
type Columns = Pick<
  Selectable<AlertChannelsTable>,
  Changed | 'min_severity' | 'enabled' | 'updated_at_ms'
>

function columnsOf(change: Required<ChannelChange>): Columns
function columnsOf(change: ChannelChange): Partial<Columns>
function columnsOf(change: ChannelChange): Partial<Columns> {
  const { name, target, settings, secretCiphertext, secrets, conditions } = change
  const { minSeverity, enabled, updatedAtMs } = change
  return {
    ...(name === undefined ? {} : { name }),
    ...(target === undefined ? {} : { target }),
    ...(settings === undefined ? {} : { settings: JSON.stringify(settings) }),
    ...(secretCiphertext === undefined ? {} : { secret_ciphertext: secretCiphertext }),
    ...(secrets === undefined ? {} : { secrets: JSON.stringify(secrets) }),
    ...(conditions === undefined ? {} : { conditions: JSON.stringify(conditions) }),
    ...(minSeverity === undefined ? {} : { min_severity: minSeverity }),
    ...(enabled === undefined ? {} : { enabled }),
    updated_at_ms: updatedAtMs,
  }
}

function channelOf(
  row: Selectable<AlertChannelsTable> & { readonly queued: number | null },
): ChannelWithHealth {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    name: row.name,
    kind: row.kind,
    target: row.target,
    settings: JSON.parse(row.settings) as ChannelSettings,
    secretCiphertext: row.secret_ciphertext,
    secrets: JSON.parse(row.secrets) as string[],
    conditions: JSON.parse(row.conditions) as string[],
    minSeverity: row.min_severity as Severity,
    enabled: row.enabled,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    health: {
      lastSentAtMs: row.last_sent_at_ms,
      failures: row.failures,
      fault: row.fault,
      retryAtMs: row.retry_at_ms,
      dropped: row.dropped,
      queued: Number(row.queued ?? 0),
    },
  }
}

type SilenceCall = 'listSilences' | 'createSilence' | 'deleteSilence'

export function silenceCalls(database: Sql): Pick<AlertStore, SilenceCall> {
  return {
    listSilences: (scope, nowMs) =>
      database.repeatable(async (db) => {
        const rows = await db
          .selectFrom('alert_silences')
          .selectAll()
          .where(inScope<'alert_silences'>(scope))
          .where('until_ms', '>', nowMs)
          .orderBy('id')
          .execute()
        return rows.map(silenceOf)
      }),
    createSilence: (silence) => {
      const message = `A tenant has at most ${alertLimits.silencesPerTenantMax} silences at once.`
      const created = database.once((db) => createSilence(db, silence))
      return withFaults(created, { 'too-many-silences': message })
    },
    deleteSilence: (scope, id) => database.once((db) => deleteRow(db, 'alert_silences', scope, id)),
  }
}

async function createSilence(
  db: Db,
  silence: StoredSilence,
): Promise<undefined | 'too-many-silences'> {
  const { id, tenantId, condition, subject, reason, createdAtMs, untilMs } = silence
  return await asOnlyWriter(db, 'alert_silences', async (transaction) => {
    const { count } = await transaction
      .selectFrom('alert_silences')
      .select((from) => from.fn.countAll<number>().as('count'))
      .where('tenant_id', '=', tenantId)
      .where('until_ms', '>', createdAtMs)
      .executeTakeFirstOrThrow()
    if (Number(count) >= alertLimits.silencesPerTenantMax) return 'too-many-silences'
    await transaction
      .insertInto('alert_silences')
      .values({
        ...{ id, tenant_id: tenantId, condition, subject, reason },
        ...{ created_at_ms: createdAtMs, until_ms: untilMs },
      })
      .execute()
    await holdBack(transaction, createdAtMs)
    return undefined
  })
}

function silenceOf(row: Selectable<AlertSilencesTable>): StoredSilence {
  const { id, condition, subject, reason } = row
  return {
    ...{ id, tenantId: row.tenant_id, condition, subject, reason },
    ...{ createdAtMs: row.created_at_ms, untilMs: row.until_ms },
  }
}
