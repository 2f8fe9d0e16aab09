// What a control node keeps in files besides its database, and its backups have too: its key, whom
// it trusts, what it has accepted and published, and its repository.
import { createReadStream, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '#settings/settings.ts'
import { writeRepositoryBundle } from '#gitops/source/repository-bundle.ts'
import { isSshUrl } from '#gitops/source/remote-url.ts'
import { originPath, statePathOf } from '#gitops/thread/options.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { BackupFileName } from '#state/backup/format.ts'
import type { FileToKeep } from '#state/backup/write-backup.ts'

/** Where each is on this node, small ones alone. */
export function smallFilesOf({
  dataDir,
  gitops,
}: Pick<Settings, 'dataDir' | 'gitops'>): ReadonlyMap<BackupFileName, string> {
  return new Map<BackupFileName, string>([
    // What was accepted is in the repository that is read after it.
    ['gitops/state.json', statePathOf(dataDir)],
    ['keys/node.pem', join(dataDir, 'keys', 'node.pem')],
    ['allowed_signers', gitops.allowedSigners],
    ['ssh_key', gitops.sshKey],
    ['known_hosts', gitops.knownHosts],
  ])
}

export interface GatheredFiles {
  readonly files: readonly FileToKeep[]
  /** Sentences: what is not among them, and should be. */
  readonly missing: readonly string[]
}

/**
 * A remote has the repository already. Errors: a sentence.
 *
 * @param bundlePath of a file that is made for the repository, where the node has its own; the
 *   caller takes it away
 */
export async function gatherFiles(
  settings: Pick<Settings, 'dataDir' | 'gitops'>,
  bundlePath: string,
  git: { readonly searchPath: string; readonly stop: AbortSignal },
): Promise<Result<GatheredFiles, string>> {
  const files: FileToKeep[] = []
  const isSsh = isSshUrl(settings.gitops.url)
  for (const [name, path] of smallFilesOf(settings)) {
    const isForSsh = name === 'ssh_key' || name === 'known_hosts'
    if (isForSsh && !isSsh) continue
    const octets = readIfThere(path)
    if (!octets.ok) return octets
    if (octets.value !== null) files.push({ name, octets: [octets.value] })
  }
  const gitdir = originPath(settings.dataDir)
  if (settings.gitops.url !== '' || !isThere(join(gitdir, 'HEAD')))
    return ok({ files, missing: [] })
  const written = await writeRepositoryBundle(gitdir, bundlePath, git)
  if (written.ok) {
    const octets = { [Symbol.asyncIterator]: () => chunksOf(bundlePath) }
    if (written.value) files.push({ name: 'config.bundle', octets })
    return ok({ files, missing: [] })
  }
  const { isMissing, message } = written.error
  if (!isMissing) return err(`The repository cannot be read: ${message}.`)
  rmSync(bundlePath, { force: true })
  return ok({ files, missing: [`the repository ${gitdir} is not in it: ${message}`] })
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Uint8Array>
}

const isThere = (path: string): boolean => {
  const read = readIfThere(path)
  return read.ok && read.value !== null
}

/** null: there is none. */
function readIfThere(path: string): Result<Uint8Array | null, string> {
  try {
    return ok(readFileSync(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return ok(null)
    return err(`${path} cannot be read (${code ?? 'unknown'}).`)
  }
}
