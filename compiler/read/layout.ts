// Decides by its path how a file of the repository is read: as settings, a tenant's, a policy, a
// delivery, a test, or not at all.
import { shared } from '#lib/memory/string-memory.ts'
import { forEachKind, kinds } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'

export type PathRole =
  | { readonly role: 'settings' }
  | { readonly role: 'tenant'; readonly tenant: string }
  /** Rules that hold for everybody. */
  | { readonly role: 'policy' }
  /** How changes reach the nodes of the fleet. */
  | { readonly role: 'delivery' }
  /** What everybody's names have to answer. */
  | { readonly role: 'test' }
  /** YAML that nothing reads: pointed out. */
  | { readonly role: 'outside' }
  | { readonly role: 'ignored' }

const ignored: PathRole = { role: 'ignored' }
const outside: PathRole = { role: 'outside' }

export function roleOf(path: string): PathRole {
  if (path === 'gslb.yaml') return { role: 'settings' }
  if (!isYaml(path) || path.startsWith('.') || path.includes('/.')) return ignored
  const [top, folder, ...rest] = path.split('/', 3)
  if (top === 'rpz' && folder !== undefined) return { role: 'policy' }
  if (top === 'deliveries' && folder !== undefined) return { role: 'delivery' }
  if (top === 'tests' && folder !== undefined) return { role: 'test' }
  if (top !== 'tenants' || folder === undefined || rest.length === 0) return outside
  return { role: 'tenant', tenant: shared(folder) }
}

/** The role of the path where a kind lies, as its row says it. */
const homeOf = forEachKind((kind) => roleOf(kinds[kind].path).role)

/** Whether objects of a kind may lie at paths of a role. */
export function isHomeOf(kind: Kind, role: PathRole['role']): boolean {
  // A tenant's own names may have tests beside them.
  return role === homeOf[kind] || (role === 'tenant' && kind === 'Test')
}

/** True when the content of the path matters; the bytes of other files need not be read. */
export function isRead(path: string): boolean {
  const { role } = roleOf(path)
  return role !== 'ignored' && role !== 'outside'
}

/** True where a link or a submodule would hide configuration. */
export function hidesConfiguration(path: string): boolean {
  const [top] = path.split('/', 1)
  return path === 'gslb.yaml' || ['tenants', 'rpz', 'deliveries', 'tests'].includes(top ?? '')
}

function isYaml(path: string): boolean {
  return path.endsWith('.yaml') || path.endsWith('.yml')
}
