// Points out tenants that a zone is given to and that do not exist.
import { suggest } from '#lib/suggest.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { TreeRule } from './tree-rule.ts'

export const zoneTenants: TreeRule = {
  name: 'zone-tenants',
  check({ tree }, report) {
    const { settings, folders } = tree
    if (settings === undefined) return
    for (const [i, { name, tenants = [] }] of settings.object.spec.zones.entries()) {
      for (const [j, tenant] of tenants.entries()) {
        if (tenant === defaultTenant || folders.has(tenant)) continue
        const at = placeIn(settings, valueAt('spec', 'zones', i, 'tenants', j))
        const suggestion = suggest(tenant, [defaultTenant, ...folders.keys()])
        report('zone-tenant-unknown', at, { args: [name, tenant, tenant], suggestion })
      }
    }
  },
}
