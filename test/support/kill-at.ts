// A preload for a process under test: kills it at one moment of one durable write.
import fs, { existsSync, openSync, renameSync, writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

export type KillMoment = 'half written' | 'after the rename'

/**
 * @param file end of the written name
 * @param armed path of a file; without it nothing is killed
 * @returns the value for `--import`
 */
export function killAt(file: string, moment: KillMoment, armed: string): string {
  const url = new URL(import.meta.url)
  for (const [key, value] of Object.entries({ file, moment, armed }))
    url.searchParams.set(key, value)
  return url.href
}

const { searchParams } = new URL(import.meta.url)
const file = searchParams.get('file')
if (file !== null) wrap(file, searchParams.get('moment') ?? '', searchParams.get('armed') ?? '')

function wrap(file: string, moment: string, armed: string): void {
  const [open, write, rename] = [openSync, writeSync, renameSync]
  const targets = new Set<number>()
  const dieAt = (now: KillMoment): void => {
    if (now !== moment || !existsSync(armed)) return
    process.kill(process.pid, 'SIGKILL')
    // Blocks until the signal arrives, so that nothing more is written.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
  const wrapped = {
    openSync: (...args: Parameters<typeof openSync>) => {
      const fd = open(...args)
      // `active.json.0123456789ab.tmp`
      if (String(args[0]).includes(file)) targets.add(fd)
      else targets.delete(fd)
      return fd
    },
    writeSync: (
      fd: number,
      data: Uint8Array,
      offset: number,
      length: number,
      position?: number | null,
    ) => {
      if (targets.has(fd) && moment === 'half written' && existsSync(armed)) {
        write(fd, data, offset, length >> 1)
        dieAt('half written')
      }
      // The embedded database writes at positions.
      return write(fd, data, offset, length, position)
    },
    renameSync: (from: string, to: string) => {
      rename(from, to)
      if (to.endsWith(file)) dieAt('after the rename')
    },
  }
  Object.assign(fs, wrapped)
  syncBuiltinESMExports()
}
