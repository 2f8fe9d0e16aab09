// Reads a bundle file, for commands.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import { readFileSync, statSync } from 'node:fs'
import type { Bundle } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import type { TrustedKey } from '#bundle/signature/channel.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { readTrustedKey } from '#gitops/trust/key-files.ts'
import { CommandFault, Exit } from '#system/process/command.ts'

/** Errors: a sentence that names the path. */
function readBundleFile(path: string): Result<Uint8Array, string> {
  try {
    const { size } = statSync(path)
    if (size > bundleLimits.bytesMax)
      return err(`${path} has ${size} octets, too many for a bundle`)
    // A buffer of its own, since columns are views at multiples of four.
    return ok(sharedCopy(readFileSync(path)))
  } catch (error) {
    return err(sentence(path, error))
  }
}

/** Faults of the signature; the octets are sound. */
const trustFaults: readonly string[] = ['unsigned', 'unknown-key', 'bad-signature']

/** @param trusted left out: the signature is not verified */
export function openBundleFile(
  path: string,
  trusted?: readonly TrustedKey[],
): Result<Bundle, CommandFault> {
  const bytes = readBundleFile(path)
  if (!bytes.ok) return err(new CommandFault(Exit.Usage, bytes.error))
  const loaded = loadBundle(bytes.value, trusted)
  if (loaded.ok) return loaded
  const { code, message } = loaded.error
  const exit = trustFaults.includes(code) ? Exit.Trust : Exit.ErrorsFound
  return err(new CommandFault(exit, `${path}: ${message} (${code})`))
}

/** An unsigned or signed bundle, whose signature is not verified. @throws CommandFault */
export function bundleIn(path: string): Bundle {
  const bundle = openBundleFile(path)
  if (!bundle.ok) throw bundle.error
  return bundle.value
}

/** Public keys, one a file. Errors: a sentence that names the path. */
export function readTrustedKeys(paths: readonly string[]): Result<readonly TrustedKey[], string> {
  const keys: TrustedKey[] = []
  for (const path of paths) {
    const key = readTrustedKey(path)
    if (!key.ok) return key
    keys.push(key.value)
  }
  return ok(keys)
}

function sentence(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return `${path} does not exist`
  if (code === 'EISDIR') return `${path} is a directory; give a file`
  return `${path} cannot be read: ${message}`
}
