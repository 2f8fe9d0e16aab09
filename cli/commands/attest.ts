// `gslbd attest`: signs an attestation for commits without an author's signature, such as squashed
// ones.
import { resolve } from 'node:path'
import { attestCommit, findRepository, resolveCommit } from '#gitops/source/attest.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { systemClock } from '#lib/clock.ts'
import { commandLine, Exit, needed } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { findSigningKey } from '#cli/files/signing-key.ts'
import { searchPath } from '#cli/files/search-path.ts'

const usage = `Usage: gslbd attest [--repo DIR] [--key FILE] [COMMIT…]

Signs a statement "this commit, with this content, is ours" and stores it in the repository as
refs/gslb/attest/COMMIT. A node accepts a commit with such a statement as if its author had signed
it: needed for commits that a forge made (squash and rebase buttons).

  COMMIT       full or short id, branch, tag, or HEAD~2 and the like (default HEAD)
  --repo DIR   checkout, a folder in one, or bare repository (default .)
  --key FILE   unencrypted Ed25519 private key, or its .pub beside it (default: the one that git
               signs with, by gpg.format=ssh and user.signingkey; no other is taken)

Exit codes: 0 done; 2 wrong call; 4 the key or the commit cannot be used.`

export const attest: Command = {
  name: 'attest',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      repo: { type: 'string', default: '.' },
      key: { type: 'string' },
    })
    const { gitdir, isBare } = needed(findRepository(resolve(values.repo)), Exit.Trust)
    const signing = findSigningKey({ named: values.key, gitdir, isBare, env: io.env })
    const { key, path } = needed(signing, Exit.Trust)
    const driver = createDiskDriver(gitdir)
    const refs: string[] = []
    for (const name of positionals.length === 0 ? ['HEAD'] : positionals) {
      const commit = needed(resolveCommit(driver, name, searchPath()), Exit.Trust)
      const nowSeconds = Math.floor(systemClock.nowMs() / 1000)
      refs.push(needed(await attestCommit(driver, commit, nowSeconds, key), Exit.Trust))
    }
    const { fingerprint } = key.publicKey
    io.out(`signed with ${path}, ${fingerprint}. ${nextStep(refs, isBare, gitdir)}\n`)
    return Exit.Ok
  },
}

/** In a bare repository the ref is where the node looks, unless the repository is a mirror. */
function nextStep(refs: readonly string[], isBare: boolean, gitdir: string): string {
  if (isBare) return `In ${gitdir}:\n\n${refs.map((ref) => `  ${ref}\n`).join('')}`
  const refspecs = refs.map((ref) => `${ref}:${ref}`).join(' ')
  return `Publish it with:\n\n  git push origin ${refspecs}`
}
