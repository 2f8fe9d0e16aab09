// Checks the private keys of the node: they exist, can be read, and only by their owner.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isSshUrl } from '#gitops/source/remote-url.ts'
import { signingKeyFromPem } from '#bundle/signature/channel.ts'
import { readSecrets } from '#process/data/secrets.ts'
import { isLoopback } from '#lib/loopback.ts'
import { bad, good, unknown, warning } from './check.ts'
import type { Check, Finding, CheckedNode } from './check.ts'

/** Permissions of all but the owner. */
const othersMask = 0o077

export const keys: Check = {
  name: 'keys',
  look: async (node) => [nodeKey(node), ...sshKey(node), ...apiKeys(node)],
}

function nodeKey({ settings: { dataDir, roles } }: CheckedNode): Finding {
  const path = join(dataDir, 'keys', 'node.pem')
  const read = keyFile(path)
  if (read === undefined) {
    const isControl = roles.includes('control')
    return isControl
      ? unknown(`${path} is not there yet: the first start makes it`)
      : good('none is needed')
  }
  if (typeof read !== 'string') return read
  try {
    signingKeyFromPem(read)
    return good(`${path} is an Ed25519 key of its owner alone`)
  } catch {
    const todo = 'restore it from a backup, or see "gslbd trust rotate"'
    return bad(`${path} is no Ed25519 private key in PEM`, todo)
  }
}

function sshKey({ settings: { gitops } }: CheckedNode): Finding[] {
  if (!isSshUrl(gitops.url)) return []
  const read = keyFile(gitops.sshKey)
  if (read === undefined) return [bad(`${gitops.sshKey} is not there`, 'make it with ssh-keygen')]
  return [typeof read === 'string' ? good(`${gitops.sshKey} is of its owner alone`) : read]
}

/** @returns its text; undefined: it does not exist */
function keyFile(path: string): string | Finding | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if ((stat.mode & othersMask) !== 0) {
    return bad(`${path} can be used by others than its owner`, `run: chmod 600 ${path}`)
  }
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return bad(`${path} cannot be read: ${code ?? ''}`, 'run this as the user of the node')
  }
}

function apiKeys({ settings: { api, roles }, env }: CheckedNode): Finding[] {
  if (!api.enabled) return []
  const secrets = readSecrets(env)
  // The check of the settings reports faults of secrets.
  if (!secrets.ok) return []
  if (secrets.value.apiKey !== null) return [good('GSLB_API_KEY is set')]
  if (!roles.includes('control') && isLoopback(api.listenAddr)) {
    return [good('GSLB_API_KEY is not set here: this machine alone may read the metrics')]
  }
  const todo = 'set it as the node has it; make one with: openssl rand -hex 32'
  return [warning('GSLB_API_KEY is not set here: the API asks nobody who they are', todo)]
}
