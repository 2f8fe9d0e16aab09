// Reads the file of an import and its includes, up to a limit of octets each.
import { closeSync, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { ZoneSource } from '#dns/zone-file/zone-file.ts'
import { zoneFileLimits } from '#dns/zone-file/zone-record.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

const { bytesMax } = zoneFileLimits

/** @returns the file, or the reason as a clause that follows its path */
export function readSourceFile(path: string): Result<ZoneSource, string> {
  try {
    const fd = openSync(path, 'r')
    try {
      const stat = fstatSync(fd)
      if (stat.isDirectory()) return err('is a directory; give a file')
      // /dev/stdin is often a pipe; a device may be endless, but the read is bounded.
      const octets = readUpTo(fd, stat.isFile() ? stat.size : 65_536)
      if (octets.length > bytesMax) return err(`has more than ${bytesMax} octets`)
      return ok({ path, octets })
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    return err(reasonOf(error))
  }
}

function readUpTo(fd: number, expectedBytes: number): Uint8Array {
  let octets = Buffer.alloc(Math.min(expectedBytes, bytesMax) + 1)
  let used = 0
  for (;;) {
    const count = readSync(fd, octets, used, octets.length - used, null)
    used += count
    if (count === 0 || used > bytesMax) return octets.subarray(0, used)
    if (used === octets.length) octets = Buffer.concat([octets, Buffer.alloc(octets.length)])
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'does not exist'
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read: permission denied'
  return `cannot be read: ${message}`
}

/** Reads files of $INCLUDE from the folder of the first file and folders below it. */
export function includesBeside(top: string) {
  const folder = dirname(resolve(top))
  return (file: string): Result<ZoneSource, string> => {
    const path = resolve(folder, file)
    const real = realPath(path)
    const home = realPath(folder)
    if (real === undefined || home === undefined) return err('it does not exist')
    if (!real.startsWith(home.endsWith(sep) ? home : home + sep)) {
      return err(`only files in ${folder} are read; copy it there`)
    }
    const read = readSourceFile(real)
    if (!read.ok) return err(`it ${read.error}`)
    // Named relative to the first file, as the user names files.
    return ok({ ...read.value, path: join(dirname(top), relative(home, real)) })
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
