// Decides by its path how a file of the repository is read: as an object of a tenant, as a global
// object, or not at all.
import { shared } from '#lib/memory/string-memory.ts'
import { kindNames, kinds, tenantPathOf } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'

type PathRole =
  | { readonly role: 'tenant'; readonly tenant: string }
  /** A global file of one kind. */
  | { readonly role: 'shared'; readonly kind: Kind }
  /** YAML that is not read: reported. */
  | { readonly role: 'outside' }
  | { readonly role: 'ignored' }

const ignored: PathRole = { role: 'ignored' }
const outside: PathRole = { role: 'outside' }
const settings: PathRole = { role: 'shared', kind: 'Settings' }

const tenants = 'tenants'
/** By folder of the kind, such as `rpz`. */
const sharedFolders: ReadonlyMap<string, PathRole> = new Map(
  kindNames.flatMap((kind): [string, PathRole][] => {
    const [folder = '', file] = kinds[kind].path.split('/')
    return folder === tenants || file === undefined ? [] : [[folder, { role: 'shared', kind }]]
  }),
)

export function roleOf(path: string): PathRole {
  if (path === kinds.Settings.path) return settings
  if (!isYaml(path) || path.startsWith('.') || path.includes('/.')) return ignored
  const [top = '', folder, ...rest] = path.split('/', 3)
  if (folder === undefined) return outside
  if (top !== tenants) return sharedFolders.get(top) ?? outside
  return rest.length === 0 ? outside : { role: 'tenant', tenant: shared(folder) }
}

/** Whether objects of a kind may be at paths of a role. */
export function isHomeOf(kind: Kind, role: PathRole): boolean {
  if (role.role === 'shared') return role.kind === kind
  return role.role === 'tenant' && tenantPathOf(kind) !== undefined
}

/** True when the content at the path matters; the bytes of other files need not be read. */
export function isRead(path: string): boolean {
  const { role } = roleOf(path)
  return role !== 'ignored' && role !== 'outside'
}

/** True where a link or a submodule would hide configuration. */
export function hidesConfiguration(path: string): boolean {
  const [top = ''] = path.split('/', 1)
  return path === kinds.Settings.path || top === tenants || sharedFolders.has(top)
}

function isYaml(path: string): boolean {
  return path.endsWith('.yaml') || path.endsWith('.yml')
}
