// Finds out whether a repository is of a form that is read here: SHA-1 objects, refs in files.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Advice for a repository, or a remote, that names its objects by SHA-256. */
export const sha256Advice =
  'gslbd reads SHA-1, which is what "git init" makes: make a repository with "git init ' +
  '--object-format=sha1" and commit the files to it, signed.'

/**
 * @returns what is wrong, in sentences; undefined: the repository can be read.
 * @throws the file system's error
 */
export function formatFault(gitdir: string): string | undefined {
  const format = extensionsOf(readFileSync(join(gitdir, 'config'), 'utf8'))
  const objects = format.get('objectformat') ?? 'sha1'
  if (objects !== 'sha1') {
    const words = objects === 'sha256' ? 'SHA-256' : objects
    return `${gitdir} names its objects by ${words}. ${sha256Advice}`
  }
  const refs = format.get('refstorage') ?? 'files'
  if (refs === 'files') return undefined
  return (
    `${gitdir} keeps its refs as ${refs}, and gslbd reads them from files: run ` +
    `"git -C ${gitdir} refs migrate --ref-format=files".`
  )
}

/** The section `[extensions]` of git-config(1), with keys in lower case. */
function extensionsOf(config: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  let isInside = false
  for (const line of config.split('\n')) {
    const [, section, rest = line] = /^\s*\[\s*([^\]\s]+)\s*\](.*)$/.exec(line) ?? []
    if (section !== undefined) isInside = section.toLowerCase() === 'extensions'
    const [, key = '', value = ''] = /^\s*([a-z-]+)\s*=\s*"?([a-z0-9]+)/i.exec(rest) ?? []
    if (isInside && key !== '') found.set(key.toLowerCase(), value.toLowerCase())
  }
  return found
}
