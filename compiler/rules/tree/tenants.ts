// Checks tenants: their folders and objects, and the zones and domains given to them.
import { valueIn, keyIn } from '#compiler/tree/tree.ts'
import type { Entry, TreeReport } from '#compiler/tree/tree.ts'
import { enclosingNames } from '#dns/enclosing-names.ts'
import { checkHostName } from '#compiler/values/names.ts'
import { earlier } from '#lib/sequence/earlier.ts'
import { suggest } from '#lib/suggest.ts'
import { tenantIdPattern } from '#lib/text/patterns.ts'
import { defaultTenant, reservedTenants } from '#schemas/objects/tenant.ts'
import type { TreeRule } from './tree-rule.ts'

/** Checks that each folder under tenants/ is a tenant id and has its Tenant object. */
export const tenantFolders: TreeRule = ({ tree }, report) => {
  const declared = new Set(tree.of.Tenant.map(({ tenant }) => tenant))
  for (const [folder, first] of tree.folders) {
    const at = keyIn(first)
    const isDeclared = declared.has(folder) || tree.faulty.tenants.has(folder)
    if (!tenantIdPattern.test(folder)) report('tenant-folder-name', at, { args: [folder] })
    else if (reservedTenants.includes(folder)) report('tenant-reserved', at, { args: [folder] })
    else if (folder !== defaultTenant && !isDeclared) {
      report('tenant-undeclared', at, { args: [folder, `tenants/${folder}/tenant.yaml`] })
    }
  }
  checkNames(tree.of.Tenant, report)
}

function checkNames(tenants: readonly Entry<'Tenant'>[], report: TreeReport): void {
  const firstOf = new Map<string, Entry<'Tenant'>>()
  for (const entry of tenants) {
    const { tenant, object } = entry
    const { name: written } = object.metadata
    if (written !== tenant) {
      const at = valueIn(entry, 'metadata', 'name')
      report('tenant-name-mismatch', at, { args: [written, tenant], suggestion: tenant })
    }
    const name = object.spec.displayName ?? tenant
    const first = firstOf.get(name)
    if (first === undefined || first.tenant === tenant) firstOf.set(name, entry)
    else {
      const at = valueIn(entry, 'spec', 'displayName')
      const other = valueIn(first, 'spec', 'displayName')
      report('tenant-name-duplicate', at, { args: [name], other })
    }
  }
}

/** Notes zones given to tenants that do not exist. */
export const zoneTenants: TreeRule = ({ tree }, report) => {
  const { settings, folders } = tree
  if (settings === undefined) return
  for (const [i, { name, tenants = [] }] of settings.object.spec.zones.entries()) {
    for (const [j, tenant] of tenants.entries()) {
      if (tenant === defaultTenant || folders.has(tenant)) continue
      const at = valueIn(settings, 'spec', 'zones', i, 'tenants', j)
      const suggestion = suggest(tenant, [defaultTenant, ...folders.keys()])
      report('zone-tenant-unknown', at, { args: [name, tenant, tenant], suggestion })
    }
  }
}

/** Notes delegated domains in zones of other tenants, which give their own tenant nothing. */
export const domainsWithoutNames: TreeRule = ({ tree }, report) => {
  const zoneAt = new Map(
    (tree.settings?.object.spec.zones ?? []).flatMap((zone) => {
      const { key } = checkHostName(zone.name)
      return key === undefined ? [] : [[key, zone] as const]
    }),
  )
  for (const entry of zoneAt.size === 0 ? [] : tree.of.DelegatedDomain) {
    const { key } = checkHostName(entry.object.spec.domain)
    if (key === undefined) continue
    const apex = [key, ...enclosingNames(key)].find((name) => zoneAt.has(name))
    if (apex === undefined) continue
    const { tenants, delegated = false } = zoneAt.get(apex)!
    if (tenants === undefined || delegated || tenants.includes(entry.tenant)) continue
    // Whose the zone is, its settings say: a tenant that writes over the API is not told.
    const args = [key, entry.tenant, apex]
    report('delegated-domain-gives-nothing', valueIn(entry, 'spec', 'domain'), { args })
  }
}

/** Checks that objects below a delegated domain belong to its tenant. */
export const delegatedDomains: TreeRule = ({ tree }, report) => {
  const ownerOf = new Map<string, Entry<'DelegatedDomain'>>()
  for (const entry of tree.of.DelegatedDomain) {
    const { key } = checkHostName(entry.object.spec.domain)
    if (key !== undefined) earlier(ownerOf, key, entry)
  }
  for (const [key, entry] of ownerOf) {
    const outerName = enclosingNames(key).find((name) => ownerOf.has(name))
    if (outerName === undefined) continue
    const outer = ownerOf.get(outerName)!
    if (outer.tenant === entry.tenant) continue
    const args = [key, outerName]
    const other = valueIn(outer, 'spec', 'domain')
    report('delegated-domain-overlap', valueIn(entry, 'spec', 'domain'), { args, other })
  }
}
