// `gslbd verify`: checks the signatures of the commits of a change, as a node would.
import {
  commitNamed,
  openGitPlace,
  relationOf,
  unrelatedReason,
} from '#gitops/checkout/git-tree.ts'
import { verifyBetween } from '#gitops/checkout/signatures.ts'
import {
  atMostOne,
  CommandFault,
  commandLine,
  Exit,
  needed,
  UsageError,
} from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'
import { short } from '#gitops/trust/accept.ts'
import { readSigners } from '#gitops/trust/signers-file.ts'
import { searchPath } from '#cli/files/search-path.ts'

const usage = `Usage: gslbd verify [PATH] --base BASE --allowed-signers FILE [--head HEAD]

Checks that each commit between BASE and HEAD of the checkout that PATH is in is signed by a key of
FILE, or attested by one, as a node does before it accepts them. FILE is the allowed_signers of the
nodes: one that the change itself brings proves nothing.

  --base BASE             a commit that is accepted, such as origin/main
  --head HEAD             a commit that contains it (default HEAD)
  --allowed-signers FILE  in OpenSSH's format

Exit codes: 0 all are; 2 wrong call, or a commit that is not there; 4 one is not.`

export const verify: Command = {
  name: 'verify',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      base: { type: 'string' },
      head: { type: 'string', default: 'HEAD' },
      'allowed-signers': { type: 'string' },
    })
    const path = atMostOne(positionals, 'give one directory') ?? '.'
    if (values.base === undefined) throw new UsageError('give --base: what is accepted')
    const signersPath = values['allowed-signers']
    if (signersPath === undefined) throw new UsageError('give --allowed-signers')
    const place = needed(openGitPlace(path, searchPath()), Exit.Usage)
    const base = needed(await commitNamed(place, values.base), Exit.Usage)
    const head = needed(await commitNamed(place, values.head), Exit.Usage)
    const isApart = (await relationOf(place, base, head)) === 'unrelated'
    if (isApart && place.isShallow) {
      throw new CommandFault(Exit.Usage, unrelatedReason(place, values.base, values.head))
    }
    io.progress?.(`checking signatures since ${values.base}`)
    const signers = needed(readSigners(signersPath).signers, Exit.Trust)
    const verified = await verifyBetween(place, base, head, signers)
    if (!verified.ok) throw new CommandFault(Exit.Trust, verified.error.reason)
    const range = `${short(base)} and ${short(head)}`
    io.out(`ok: each commit between ${range} is signed by a listed key, or attested by one\n`)
    return Exit.Ok
  },
}
