// Checks that each folder under tenants/ is a tenant id and has its Tenant object.
import { tenantIdPattern } from '#lib/text/patterns.ts'
import { defaultTenant, reservedTenants } from '#schemas/objects/tenant.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { RuleSubject, TreeRule } from './tree-rule.ts'
import { placeIn } from '#compiler/tree/tree.ts'
import type { Entry, TreeReport } from '#compiler/tree/tree.ts'

export const tenantFolders: TreeRule = {
  name: 'tenant-folders',
  check(subject, report) {
    const { tree } = subject
    const declared = new Map<string, Entry<'Tenant'>>()
    for (const entry of tree.of.Tenant) {
      const first = declared.get(entry.tenant)
      if (first === undefined) declared.set(entry.tenant, entry)
      else {
        const other = placeIn(first, valueAt('kind'))
        report('tenant-duplicate', placeIn(entry, valueAt('kind')), { args: [entry.tenant], other })
      }
      checkNames(entry, report)
    }
    checkFolders(subject, declared, report)
    checkDisplayNames(tree.of.Tenant, report)
  },
}

function checkNames(entry: Entry<'Tenant'>, report: TreeReport): void {
  const { name } = entry.object.metadata
  if (name === entry.tenant) return
  const at = placeIn(entry, valueAt('metadata', 'name'))
  report('tenant-name-mismatch', at, { args: [name, entry.tenant], suggestion: entry.tenant })
}

function checkFolders(
  { tree }: RuleSubject,
  declared: ReadonlyMap<string, unknown>,
  report: TreeReport,
): void {
  for (const [folder, first] of tree.folders) {
    const at = placeIn(first, keyAt())
    if (!tenantIdPattern.test(folder)) report('tenant-folder-name', at, { args: [folder] })
    else if (reservedTenants.includes(folder)) report('tenant-reserved', at, { args: [folder] })
    else if (
      folder !== defaultTenant &&
      !declared.has(folder) &&
      !tree.faulty.tenants.has(folder)
    ) {
      report('tenant-undeclared', at, { args: [folder, `tenants/${folder}/tenant.yaml`] })
    }
  }
}

function checkDisplayNames(tenants: readonly Entry<'Tenant'>[], report: TreeReport): void {
  const firstOf = new Map<string, Entry<'Tenant'>>()
  for (const entry of tenants) {
    const name = entry.object.spec.displayName ?? entry.tenant
    const first = firstOf.get(name)
    if (first === undefined || first.tenant === entry.tenant) firstOf.set(name, entry)
    else {
      const at = placeIn(entry, valueAt('spec', 'displayName'))
      const other = placeIn(first, valueAt('spec', 'displayName'))
      report('tenant-name-duplicate', at, { args: [name], other })
    }
  }
}
