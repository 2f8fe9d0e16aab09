// Lists the files of a control node that are part of its backups: its key, the trusted signers, the
// accepted and published state, the list of nodes, and its repository.
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

/** Paths of the small files on this node. */
export function smallFilesOf({
  dataDir,
  gitops,
  node,
}: Pick<Settings, 'dataDir' | 'gitops' | 'node'>): ReadonlyMap<BackupFileName, string> {
  return new Map<BackupFileName, string>([
    // Read before the repository, which then contains what was accepted.
    ['gitops/state.json', statePathOf(dataDir)],
    ['keys/node.pem', join(dataDir, 'keys', 'node.pem')],
    ['allowed_signers', gitops.allowedSigners],
    ['ssh_key', gitops.sshKey],
    ['known_hosts', gitops.knownHosts],
    ['nodes', node.listFile],
  ])
}

interface GatheredFiles {
  readonly files: readonly FileToKeep[]
  /** Sentences about what is missing. */
  readonly missing: readonly string[]
}

/**
 * With a remote the repository is left out. Errors: a sentence.
 *
 * @param bundlePath of a file that is made of the node's own repository; the caller removes it
 */
export async function gatherFiles(
  settings: Pick<Settings, 'dataDir' | 'gitops' | 'node'>,
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

/** @returns null: the file does not exist */
function readIfThere(path: string): Result<Uint8Array | null, string> {
  try {
    return ok(readFileSync(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return ok(null)
    return err(`${path} cannot be read (${code ?? 'unknown'}).`)
  }
}
