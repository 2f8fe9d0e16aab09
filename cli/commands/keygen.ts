// `gslbd keygen`: generates an Ed25519 key pair in OpenSSH's format, for signing commits.
import { hostname, userInfo } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { formatPrivateKey, formatPublicKeyLine, generateSshKey } from '#gitops/trust/openssh-key.ts'
import { writeKeyPair } from '#cli/files/key-pair.ts'
import { Exit, UsageError } from '#system/process/command.ts'
import type { Command } from '#system/process/command.ts'

const usage = `Usage: gslbd keygen [-o FILE] [--comment TEXT]

Makes an Ed25519 key pair that git can sign commits with: FILE (keep it secret) and FILE.pub.

  -o, --output FILE   where to write the private key (default ./gslbd_signing_key)
  --comment TEXT      a note in the public key (default user@host)

An existing file is never overwritten.`

export const keygen: Command = {
  name: 'keygen',
  usage,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        output: { type: 'string', short: 'o', default: 'gslbd_signing_key' },
        comment: { type: 'string', default: `${userInfo().username}@${hostname()}` },
      },
    })
    if (/\p{Cc}/u.test(values.comment)) throw new UsageError('the comment must be one line')
    const path = resolve(values.output)
    const key = generateSshKey(values.comment)
    const line = formatPublicKeyLine(key.publicKey, key.comment)
    writeKeyPair(path, formatPrivateKey(key), line)
    io.out(instructions(path, line))
    return Exit.Ok
  },
}

function instructions(path: string, line: string): string {
  return `${line}

The private key is in ${path}. To sign commits with it, run in your checkout:

  git config gpg.format ssh
  git config user.signingkey ${path}
  git config commit.gpgsign true

To have gslbd accept its commits, run on the node:

  gslbd trust add YOU@EXAMPLE.COM ${path}.pub
`
}
