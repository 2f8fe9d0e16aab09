// Prepares the first start of `npm start`: commits an example, and makes a key to change it with.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import {
  formatPrivateKey,
  formatPublicKeyLine,
  generateSshKey,
  privateKeyFromPem,
} from '#gitops/trust/openssh-key.ts'
import type { SshPrivateKey } from '#gitops/trust/openssh-key.ts'
import { originPath } from '#gitops/thread/options.ts'
import { ensureOrigin, seedRepository } from '#gitops/source/origin.ts'
import { systemClock } from '#lib/clock.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { writeSecret } from '#process/data/data-dir.ts'
import { openNodeKey } from '#process/data/key.ts'
import type { Settings } from '#settings/settings.ts'

const exampleDir = fileURLToPath(new URL('../../examples/quickstart/', import.meta.url))
/** The principal that the first node trusts besides itself. */
const operator = 'operator@localhost'

/** Path of the key that `npm start` tells people to sign with. */
export function operatorKeyPath(dataDir: string): string {
  return join(dataDir, 'keys', 'operator')
}

/** Prepares an empty data directory; a used one is left alone. Errors: a sentence. */
export async function prepareQuickstart(settings: Settings): Promise<Result<null, string>> {
  const { dataDir } = settings
  const { branch, allowedSigners } = settings.gitops
  const nodeKey = openNodeKey(dataDir)
  if (!nodeKey.ok) return nodeKey
  const commitKey = privateKeyFromPem(nodeKey.value.pem, 'gslbd node')
  try {
    writeKeys(dataDir, allowedSigners, commitKey)
  } catch (error) {
    return err(`the example's keys cannot be written: ${(error as Error).message}`)
  }
  const gitdir = originPath(dataDir)
  const origin = ensureOrigin(gitdir, branch)
  if (!origin.ok) return origin
  const driver = createDiskDriver(gitdir)
  if (driver.readRef(`refs/heads/${branch}`) !== null) return ok(null)
  const author = { name: 'gslbd <node@gslbd>', seconds: Math.floor(systemClock.nowMs() / 1000) }
  const seed = { branch, files: exampleFiles(), message: 'Quickstart configuration\n', author }
  const seeded = await seedRepository(driver, seed, commitKey)
  return seeded.ok ? ok(null) : seeded
}

/**
 * Writes a key for the operator, and both keys to the list of signers.
 *
 * @throws the file system's error
 */
function writeKeys(dataDir: string, allowedSigners: string, nodeKey: SshPrivateKey): void {
  const operatorPath = operatorKeyPath(dataDir)
  if (!existsSync(operatorPath)) {
    const key = generateSshKey(operator)
    // The private half is written last, and completes the pair.
    writeDurably(`${operatorPath}.pub`, `${formatPublicKeyLine(key.publicKey, operator)}\n`)
    writeSecret(operatorPath, formatPrivateKey(key))
  }
  if (!existsSync(allowedSigners)) {
    const operatorLine = readFileSync(`${operatorPath}.pub`, 'utf8').trim()
    const nodeLine = formatPublicKeyLine(nodeKey.publicKey, 'gslbd node')
    const scope = 'namespaces="git,gslb-attest"'
    const lines = [`node@gslbd ${scope} ${nodeLine}`, `${operator} ${scope} ${operatorLine}`]
    writeDurably(allowedSigners, `${lines.join('\n')}\n`)
  }
}

/** Files as they are in `./config`, to which people are told to clone. */
function exampleFiles(): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (const entry of readdirSync(exampleDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && /\.ya?ml$/.test(entry.name)) {
      files.set(relative(exampleDir, path), Buffer.from(asCloned(readFileSync(path, 'utf8'))))
    }
  }
  return files
}

/** Adjusts the path to the schema: `config` is one folder nearer to it. */
function asCloned(text: string): string {
  return text.replace(/^(# yaml-language-server: \$schema=)\.\.\//, '$1')
}
