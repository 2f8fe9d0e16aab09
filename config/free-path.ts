// Picks the path for the file of a new object.
import type { Kind } from '#schemas/kinds.ts'
import { kinds, tenantPathOf } from '#schemas/kinds.ts'

/** Longest stem of a file name: leaves room for a number, and for tools with short limits. */
const stemLengthMax = 80

export interface TreePaths {
  /**
   * Whether a file or folder has the path, or one that differs in case only: some file systems see
   * no difference.
   */
  readonly isTaken: (path: string) => boolean
  readonly isFile: (path: string) => boolean
}

export function freePath(
  kind: Kind,
  tenant: string,
  name: string,
  { isTaken, isFile }: TreePaths,
): string {
  const { path: shared } = kinds[kind]
  const form = tenant === '' ? shared : (tenantPathOf(kind) ?? shared)
  const place = form.replace('<tenant>', tenant)
  const stem = stemOf(kind === 'Tenant' ? 'tenant' : name)
  const folder = place.slice(0, place.lastIndexOf('/'))
  // A file may have the name of the tenant's folder.
  const home = isFile(folder) ? `tenants/${tenant}` : folder
  for (let n = 1; ; n++) {
    const path = `${home}/${stem}${n === 1 ? '' : `-${n}`}.yaml`
    if (!isTaken(path)) return path
  }
}

/** Returns a file name that all file systems and shells accept, from a name with any characters. */
function stemOf(name: string): string {
  const stem = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, stemLengthMax)
    .replace(/[-.]+$/, '')
  return stem === '' ? 'object' : stem
}
