// Installs and removes the hook that judges pushes to the node's own repository.
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { checkPolicyOfNode } from '#settings/check-policy.ts'
import type { Settings } from '#settings/settings.ts'
import { originPath } from '#gitops/thread/options.ts'
import type { GeoPaths } from '#judge/simulate/tables.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/**
 * Facts that the hook needs of the node. They are no secret: everybody who may push can read them.
 */
export interface PushCheck {
  readonly dataDir: string
  readonly branch: string
  readonly requireSignature: boolean
  readonly allowedSigners: string
  readonly checkPolicy: HealthCheckPolicy
  readonly databases: GeoPaths
}

const mark = '# Written by gslbd at each start, while gitops.checkPushes is on.'
const hookPath = (gitdir: string): string => join(gitdir, 'hooks', 'pre-receive')
const pushCheckPath = (gitdir: string): string => `${hookPath(gitdir)}.json`

/**
 * Installs the hook in the node's own repository; a node that follows a remote needs none. A
 * foreign hook is left alone. Errors: a sentence.
 *
 * @param program the file that Node runs
 */
export function installPushCheck(settings: Settings, program: string): Result<void, string> {
  const { dataDir, gitops, health } = settings
  if (gitops.url !== '') return ok(undefined)
  const gitdir = originPath(resolve(dataDir))
  const path = hookPath(gitdir)
  try {
    const there = textOf(path)
    const isOurs = there === null || there.includes(mark)
    if (!isOurs) {
      if (!gitops.checkPushes) return ok(undefined)
      return err(
        `${path} is not of gslbd and stays: pushes are judged only after they are taken. ` +
          'Have it call "gslbd hook pre-receive" with its input, or set gitops.checkPushes: false.',
      )
    }
    if (!gitops.checkPushes) {
      for (const file of [path, pushCheckPath(gitdir)]) rmSync(file, { force: true })
      return ok(undefined)
    }
    const check: PushCheck = {
      dataDir: resolve(dataDir),
      branch: gitops.branch,
      requireSignature: gitops.requireSignature,
      allowedSigners: resolve(gitops.allowedSigners),
      checkPolicy: checkPolicyOfNode(health),
      databases: { geoip: settings.geoip.dbPath, asn: settings.asn.dbPath },
    }
    mkdirSync(join(gitdir, 'hooks'), { recursive: true })
    writeDurably(pushCheckPath(gitdir), `${JSON.stringify(check, null, 2)}\n`, 0o644)
    writeDurably(path, scriptOf(program), 0o755)
  } catch (error) {
    return err(`The hook ${path} cannot be written: ${(error as Error).message}.`)
  }
  return ok(undefined)
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/**
 * If the program is gone, the hook refuses nothing: the node judges the push anyway. It compiles
 * without helpers, as `bin/gslbd` says: a push must not wait for ever.
 */
function scriptOf(program: string): string {
  return `#!/bin/sh
${mark}
node=${quoted(process.execPath)}
program=${quoted(resolve(program))}
if [ ! -x "$node" ] || [ ! -f "$program" ]; then
  echo 'gslbd: the program is not where it was; the node judges this push when it runs' >&2
  exit 0
fi
exec "$node" --no-concurrent-recompilation "$program" hook pre-receive
`
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Errors: a clause. */
export function readPushCheck(gitdir: string): Result<PushCheck, string> {
  const path = pushCheckPath(gitdir)
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (isPushCheck(value)) return ok(value)
  } catch (error) {
    return err(`${path} cannot be read: ${(error as Error).message}`)
  }
  return err(`${path} is not what gslbd wrote; start the node anew`)
}

function isPushCheck(value: unknown): value is PushCheck {
  if (typeof value !== 'object' || value === null) return false
  const check = value as Partial<PushCheck>
  const { dataDir, branch, requireSignature, allowedSigners } = check
  const areTexts = [dataDir, branch, allowedSigners].every((one) => typeof one === 'string')
  const areGroups = [check.checkPolicy, check.databases].every((one) => typeof one === 'object')
  return areTexts && areGroups && typeof requireSignature === 'boolean'
}
