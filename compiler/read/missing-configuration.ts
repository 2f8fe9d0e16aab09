// Builds the message for a tree without configuration: names files that were probably meant.
import { firstOf } from '#lib/text/first-of.ts'

/** Misplaced paths that fit into one sentence. */
const namedMax = 3

/**
 * @param paths of every file
 * @returns a clause for the help of `configuration-missing`
 */
export function remedyFor(paths: readonly string[]): string {
  const visible = paths.filter((path) => !/(^|\/)[._]/.test(path))
  const isRenamed = (name: string) => /^gslb\.ya?ml$/i.test(name)
  const renames = new Set<string>()
  const roots = new Set<string>()
  for (const path of visible) {
    const parts = path.split('/')
    const [top = ''] = parts
    if (parts.length === 1 && isRenamed(top)) renames.add(`"${top}" to "gslb.yaml"`)
    else if (parts.length > 2 && top.toLowerCase() === 'tenants' && top !== 'tenants') {
      renames.add(`"${top}" to "tenants"`)
    } else if (parts.length > 1 && isRenamed(parts.at(-1)!)) {
      roots.add(parts.slice(0, -1).join('/'))
    }
  }
  if (renames.size > 0) return `rename ${firstOf([...renames], namedMax)}`
  if (roots.size > 0) {
    return `there is configuration in ${firstOf(quoted(roots), namedMax)}: it has to be at the top`
  }
  const isInTenants = visible.some((path) =>
    /^[^/]+\/((pools|services)\/.|tenant\.ya?ml$)/.test(path),
  )
  if (isInTenants) return 'this looks like the inside of tenants/: give the directory above it'
  return 'to serve no name at all, which is rarely meant, keep a gslb.yaml'
}

const quoted = (names: ReadonlySet<string>): string[] => Array.from(names, (name) => `"${name}"`)
