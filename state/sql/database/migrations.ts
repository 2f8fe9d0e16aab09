// The table of schema migrations, oldest first. A released one is never changed.
import type { Migration } from './migration.ts'
import { accounts } from '#state/sql/migrations/0001-accounts.ts'
import { records } from '#state/sql/migrations/0002-records.ts'
import { identities } from '#state/sql/migrations/0003-identities.ts'
import { firstAccount } from '#state/sql/migrations/0004-first-account.ts'
import { dynamicDns } from '#state/sql/migrations/0005-dynamic-dns.ts'
import { responseHits } from '#state/sql/migrations/0006-response-hits.ts'
import { domains } from '#state/sql/migrations/0007-domains.ts'
import { alerts } from '#state/sql/migrations/0008-alerts.ts'
import { history } from '#state/sql/migrations/0009-history.ts'
import { deliveries } from '#state/sql/migrations/0010-deliveries.ts'
import { objectUse } from '#state/sql/migrations/0011-object-use.ts'
import { journals } from '#state/sql/migrations/0012-journals.ts'
import { txtWriters } from '#state/sql/migrations/0013-txt-writers.ts'
import { auditUsers } from '#state/sql/migrations/0014-audit-users.ts'
import { zoneKeys } from '#state/sql/migrations/0015-zone-keys.ts'
import { certificates } from '#state/sql/migrations/0016-certificates.ts'
import { writtenRecords } from '#state/sql/migrations/0017-written-records.ts'
import { zonePushes } from '#state/sql/migrations/0018-zone-pushes.ts'

export const migrations: readonly Migration[] = Object.freeze([
  accounts,
  records,
  identities,
  firstAccount,
  dynamicDns,
  responseHits,
  domains,
  alerts,
  history,
  deliveries,
  objectUse,
  journals,
  txtWriters,
  auditUsers,
  zoneKeys,
  certificates,
  writtenRecords,
  zonePushes,
])

/** The schema that this program writes. */
export const schemaVersion = migrations.length
