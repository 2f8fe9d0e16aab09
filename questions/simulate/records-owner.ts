// Finds the tenant whose records are at a name.
import { fullName } from '#compiler/values/record-sets.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigView } from '#config/view.ts'

/** A name without a service belongs to the tenant that has its records. */
export function hasRecords(config: ConfigView, owner: string | null, tenant: string): boolean {
  if (owner === null) return false
  const files = config.snapshot().list('Records')
  return files.some((file) => {
    if (file.tenant !== tenant) return false
    const { zone } = file.object.spec
    return partsIn('RecordSet', file).some(({ name }) => fullName(zone, name) === owner)
  })
}
