// Reads a geo database file and detects changes; never returns a mix of two versions.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { geoLimits } from './limits.ts'

/** Changes when the file is written or replaced. */
export type Fingerprint = string

/** Follows symbolic links, since a ConfigMap of Kubernetes is replaced by changing one. */
export async function fingerprintOf(path: string): Promise<Fingerprint> {
  try {
    return fingerprint(await stat(path, { bigint: true }))
  } catch (error) {
    return codeOf(error)
  }
}

function fingerprint({ dev, ino, mtimeNs, size }: BigIntStats): Fingerprint {
  return `${dev}:${ino}:${mtimeNs}:${size}`
}

interface GeoFile {
  readonly bytes: Buffer
  readonly fingerprint: Fingerprint
}

/** Reads a file once to its end, whatever happens to it meanwhile. */
export type ReadOnce = (path: string) => Result<GeoFile, string>

/** @returns an error as a sentence with the path */
export function readUnchanged(
  path: string,
  readOnce: ReadOnce = readFile,
): Result<GeoFile, string> {
  for (let attempt = 0; attempt < geoLimits.readAttemptsMax; attempt++) {
    try {
      const stats = statSync(path)
      if (!stats.isFile()) return err(`${path} is not a file`)
      const file = readOnce(path)
      if (!file.ok || fingerprint(statSync(path, { bigint: true })) === file.value.fingerprint) {
        return file
      }
    } catch (error) {
      return err(sentenceOf(path, codeOf(error)))
    }
  }
  return err(`${path} changes while it is read; replace it by renaming a whole file`)
}

function readFile(path: string): Result<GeoFile, string> {
  // Does not block on a pipe in the file's place.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(fd, { bigint: true })
    if (stats.size > geoLimits.fileBytesMax) {
      return err(`${path} has ${stats.size} octets; at most ${geoLimits.fileBytesMax} are read`)
    }
    const bytes = Buffer.allocUnsafeSlow(Number(stats.size))
    let length = 0
    while (length < bytes.length) {
      const read = readSync(fd, bytes, length, bytes.length - length, length)
      if (read === 0) break
      length += read
    }
    return ok({ bytes: bytes.subarray(0, length), fingerprint: fingerprint(stats) })
  } finally {
    closeSync(fd)
  }
}

/** The code of a system error as a sentence. */
export function sentenceOf(path: string, code: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no file ${path}`
  if (code === 'EACCES' || code === 'EPERM') return `${path} may not be read (${code})`
  return `${path} cannot be read (${code})`
}

/** Whether `fingerprintOf` returned an error code. */
export function isErrorCode(print: Fingerprint): boolean {
  return !print.includes(':')
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error'
}
