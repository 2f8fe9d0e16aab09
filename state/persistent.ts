// Opens the stores of lasting state, on PostgreSQL or on the embedded database.
import { join } from 'node:path'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { AcmeDnsStore } from './ports/acme-dns.ts'
import type { AlertStore } from './ports/alerts.ts'
import type { AuditCopy } from './ports/audit.ts'
import type { CertificateStore } from './ports/certificates.ts'
import type { CommitAnnouncements } from './ports/commit-news.ts'
import type { Deliveries } from './ports/deliveries.ts'
import type { CommitRecords } from './ports/commit-records.ts'
import type { Domains } from './ports/domains.ts'
import type { DynamicDnsStore } from './ports/dynamic-dns.ts'
import type { Journals } from './ports/journals.ts'
import type { Licences } from './ports/licences.ts'
import type { ObjectUses } from './ports/object-use.ts'
import type { ResponseHits } from './ports/response-hits.ts'
import type { Roles } from './ports/roles.ts'
import type { SharedSettings } from './ports/settings.ts'
import type { TenantKeys } from './ports/tenant-keys.ts'
import type { Usage } from './ports/usage.ts'
import type { Users } from './ports/users.ts'
import type { ZoneKeyStore } from './ports/zone-keys.ts'
import type { ZonePushStore } from './ports/zone-pushes.ts'
import { createSqlAcmeDns } from './sql/tls/acme-dns.ts'
import { createSqlAlerts } from './sql/alerts/store.ts'
import { createSqlAudit } from './sql/audit.ts'
import { createSqlCertificates } from './sql/tls/certificates.ts'
import { createSqlCommitNews } from './sql/commit-news.ts'
import { createSqlDeliveries } from './sql/deliveries.ts'
import { createSqlCommitRecords } from './sql/commit-records.ts'
import { createSqlDomains } from './sql/domains.ts'
import { createSqlDynamicDns } from './sql/dynamic-dns.ts'
import { createSqlJournals } from './sql/journals.ts'
import { createSqlLicences } from './sql/licences.ts'
import { createSqlObjectUses } from './sql/object-use.ts'
import { pgliteDriver } from './sql/database/pglite.ts'
import { postgresHosts } from './sql/database/find-primary.ts'
import { postgresDriver } from './sql/database/postgres.ts'
import type { PostgresOptions } from './sql/database/postgres.ts'
import { createSqlResponseHits } from './sql/response-hits.ts'
import { createSqlRoles } from './sql/roles.ts'
import { createSqlSettings } from './sql/settings.ts'
import { openSql } from './sql/database/sql.ts'
import type { Sql, SqlStatus } from './sql/database/sql.ts'
import { createSqlTenantKeys } from './sql/tenant-keys.ts'
import { createSqlUsage } from './sql/usage.ts'
import { createSqlUsers } from './sql/users.ts'
import { createSqlZoneKeys } from './sql/dnssec/zone-keys.ts'
import { createSqlZonePushes } from './sql/pushes/zone-pushes.ts'

export interface PersistentOptions {
  /** `database.url`; empty: the embedded database. A secret. */
  readonly url: string
  /** Options of the PostgreSQL connections; left out: the defaults. */
  readonly pool?: Omit<PostgresOptions, 'hosts'>
  /**
   * The data directory, which the caller has locked. The embedded database is in `database` below.
   */
  readonly dataDir: string
  readonly clock: Clock
  /** Called with each status of the database, also when it has not changed. */
  readonly onStatus?: (status: SqlStatus) => void
  /** Aborts an opening: making the embedded database takes seconds. */
  readonly signal?: AbortSignal
}

export interface PersistentState {
  readonly users: Users
  readonly roles: Roles
  readonly tenantKeys: TenantKeys
  readonly licences: Licences
  readonly settings: SharedSettings
  readonly usage: Usage
  readonly audit: AuditCopy
  readonly dynamicDns: DynamicDnsStore
  readonly responseHits: ResponseHits
  readonly commitNews: CommitAnnouncements
  readonly commitRecords: CommitRecords
  readonly alerts: AlertStore
  readonly domains: Domains
  readonly deliveries: Deliveries
  readonly objectUses: ObjectUses
  readonly journals: Journals
  readonly zoneKeys: ZoneKeyStore
  readonly certificates: CertificateStore
  readonly acmeDns: AcmeDnsStore
  readonly zonePushes: ZonePushStore
  /** The database itself, for backups. */
  readonly sql: Sql
  readonly status: () => SqlStatus
  readonly close: () => Promise<void>
}

/**
 * An unreachable database is no error: the ports answer `store-away` until it is back.
 *
 * Errors: a sentence that says what to do, without the URL.
 */
export async function createPersistent(
  options: PersistentOptions,
): Promise<Result<PersistentState, string>> {
  const { url, pool, dataDir, clock, onStatus, signal } = options
  if (url !== '' && !/^postgres(ql)?:\/\/[^/]/.test(url)) {
    return err('database.url does not begin with postgresql:// and a host. Mend or remove it.')
  }
  const hosts = postgresHosts(url)
  if (url !== '' && !hosts.ok) return hosts
  const opened = await (url === '' || !hosts.ok
    ? openSql('embedded', pgliteDriver(join(dataDir, 'database')), clock, onStatus, signal)
    : openSql(
        'postgresql',
        postgresDriver({ ...pool, hosts: hosts.value }),
        clock,
        onStatus,
        signal,
      ))
  return opened.ok ? ok(persistentState(opened.value)) : opened
}

function persistentState(sql: Sql): PersistentState {
  return {
    users: createSqlUsers(sql),
    roles: createSqlRoles(sql),
    tenantKeys: createSqlTenantKeys(sql),
    licences: createSqlLicences(sql),
    settings: createSqlSettings(sql),
    usage: createSqlUsage(sql),
    audit: createSqlAudit(sql),
    dynamicDns: createSqlDynamicDns(sql),
    responseHits: createSqlResponseHits(sql),
    commitNews: createSqlCommitNews(sql),
    commitRecords: createSqlCommitRecords(sql),
    alerts: createSqlAlerts(sql),
    domains: createSqlDomains(sql),
    deliveries: createSqlDeliveries(sql),
    objectUses: createSqlObjectUses(sql),
    journals: createSqlJournals(sql),
    zoneKeys: createSqlZoneKeys(sql),
    certificates: createSqlCertificates(sql),
    acmeDns: createSqlAcmeDns(sql),
    zonePushes: createSqlZonePushes(sql),
    sql,
    status: sql.status,
    close: sql.close,
  }
}
