// `gslbd attest`: signs a statement over commits that no author key signed, such as squashed ones.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { attestCommit, findRepository, resolveCommit } from '#gitops/attest.ts'
import { createIsoDriver } from '#gitops/iso-driver.ts'
import { parsePrivateKey } from '#gitops/openssh-key.ts'
import type { SshPrivateKey } from '#gitops/openssh-key.ts'
import { systemClock } from '#lib/clock.ts'
import { err } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { Exit } from '../command.ts'
import type { Command, Io } from '../command.ts'

const usage = `Usage: gslbd attest [--repo DIR] [--key FILE] [COMMIT…]

Signs a statement "this commit, with this content, is ours" and stores it in the repository as
refs/gslb/attest/COMMIT. A node accepts a commit with such a statement as if its author had signed
it: needed for commits that a forge made (squash and rebase buttons).

  COMMIT       full or short id, branch, tag, or HEAD~2 and the like (default HEAD)
  --repo DIR   checkout, a folder in one, or bare repository (default .)
  --key FILE   unencrypted Ed25519 private key (default ~/.ssh/id_ed25519)

Exit codes: 0 done; 2 wrong call; 4 the key or the commit cannot be used.`

export const attest: Command = {
  name: 'attest',
  summary: 'vouch for commits that are not signed by their author',
  usage,
  async run(args, io) {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        repo: { type: 'string', default: '.' },
        key: { type: 'string', default: join(homedir(), '.ssh', 'id_ed25519') },
      },
    })
    const found = findRepository(resolve(values.repo))
    if (!found.ok) return fail(io, found.error)
    const { gitdir, isBare } = found.value
    const key = readKey(resolve(values.key))
    if (!key.ok) return fail(io, `${values.key}: ${key.error}`)
    const driver = createIsoDriver(gitdir)
    const refs: string[] = []
    for (const name of positionals.length === 0 ? ['HEAD'] : positionals) {
      const commit = await resolveCommit(driver, name)
      if (!commit.ok) return fail(io, commit.error)
      const nowSeconds = Math.floor(systemClock.nowMs() / 1000)
      const ref = await attestCommit(driver, commit.value, nowSeconds, key.value)
      if (!ref.ok) return fail(io, ref.error)
      refs.push(ref.value)
    }
    io.out(`signed with ${key.value.publicKey.fingerprint}. ${nextStep(refs, isBare, gitdir)}\n`)
    return Exit.Ok
  },
}

/** In a bare repository the refs are where the node looks, unless it is somebody's mirror. */
function nextStep(refs: readonly string[], isBare: boolean, gitdir: string): string {
  if (isBare) return `In ${gitdir}:\n\n${refs.map((ref) => `  ${ref}\n`).join('')}`
  const refspecs = refs.map((ref) => `${ref}:${ref}`).join(' ')
  return `Publish it with:\n\n  git push origin ${refspecs}`
}

function readKey(path: string): Result<SshPrivateKey, string> {
  try {
    return parsePrivateKey(readFileSync(path, 'utf8'))
  } catch (error) {
    return err(
      `the key cannot be read: ${(error as Error).message}; name one with --key, or make ` +
        'one with "gslbd keygen"',
    )
  }
}

function fail(io: Io, sentence: string): Exit {
  io.err(`gslbd attest: ${sentence}\n`)
  return Exit.Trust
}
