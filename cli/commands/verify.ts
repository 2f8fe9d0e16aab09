// `gslbd verify`: checks the signatures of the commits of a change, as a node would.
import {
  commitNamed,
  openGitPlace,
  relationOf,
  unrelatedReason,
} from '#gitops/checkout/git-tree.ts'
import { verifyBetween } from '#cli/files/signatures.ts'
import { commandLine, Exit, UsageError } from '#system/process/command.ts'
import type { Command, Io } from '#system/process/command.ts'
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
  summary: 'check the signatures of the commits of a change',
  usage,
  async run(args, io) {
    const { positionals, values } = commandLine(args, {
      base: { type: 'string' },
      head: { type: 'string', default: 'HEAD' },
      'allowed-signers': { type: 'string' },
    })
    const [path = '.', ...rest] = positionals
    if (rest.length > 0) throw new UsageError('give one directory')
    if (values.base === undefined) throw new UsageError('give --base: what is accepted')
    const signersPath = values['allowed-signers']
    if (signersPath === undefined) throw new UsageError('give --allowed-signers')
    const place = openGitPlace(path, searchPath())
    if (!place.ok) return fail(io, Exit.Usage, place.error)
    const base = await commitNamed(place.value, values.base)
    const head = base.ok ? await commitNamed(place.value, values.head) : base
    if (!base.ok) return fail(io, Exit.Usage, base.error)
    if (!head.ok) return fail(io, Exit.Usage, head.error)
    const isApart = (await relationOf(place.value, base.value, head.value)) === 'unrelated'
    if (isApart && place.value.isShallow) {
      return fail(io, Exit.Usage, unrelatedReason(place.value, values.base, values.head))
    }
    io.progress?.(`checking signatures since ${values.base}`)
    const { signers } = readSigners(signersPath)
    if (!signers.ok) return fail(io, Exit.Trust, signers.error)
    const verified = await verifyBetween(place.value, base.value, head.value, signers.value)
    if (!verified.ok) return fail(io, Exit.Trust, verified.error.reason)
    const range = `${short(base.value)} and ${short(head.value)}`
    io.out(`ok: each commit between ${range} is signed by a listed key, or attested by one\n`)
    return Exit.Ok
  },
}

function fail(io: Io, exit: Exit, sentence: string): Exit {
  io.err(`gslbd verify: ${sentence}\n`)
  return exit
}
