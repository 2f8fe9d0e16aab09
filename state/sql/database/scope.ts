// Builds the tenant condition of a `where`, for tables with a column `tenant_id`.
import type { ExpressionBuilder, SqlBool } from 'kysely'
import type { Expression } from 'kysely'
import type { TenantScope } from '#state/ports/tenant-scope.ts'
import type { Tables } from './tables.ts'

type TenantTable =
  | 'users'
  | 'roles'
  | 'audit_entries'
  | 'tsig_keys'
  | 'txt_records'
  | 'written_records'
  | 'alert_channels'
  | 'alert_silences'
  | 'alerts'

export function inScope<T extends TenantTable>(scope: TenantScope) {
  return (from: ExpressionBuilder<Tables, T>): Expression<SqlBool> => {
    if (scope === 'every-tenant') return from.lit(true)
    return (from as unknown as ExpressionBuilder<Tables, TenantTable>).eb(
      'tenant_id',
      '=',
      scope.tenantId,
    )
  }
}
