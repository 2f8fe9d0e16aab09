// Checks whether the data of a node is safe: its disk is writable and has room, its backups are
// new.
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ageText } from '#cli/watch/status-screen.ts'
import { systemClock } from '#lib/clock.ts'
import { newestBackupMs } from '#state/backup/backups.ts'
import { bad, good, unknown, warning } from './check.ts'
import type { Check, Finding, CheckedNode } from './check.ts'

/** Room for a handful of bundles and commits. */
const bytesMin = 256 * 1_048_576
const percentMin = 10

export const disk: Check = {
  name: 'disk',
  async look({ settings: { dataDir } }) {
    const place = existing(dataDir)
    try {
      accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK)
      const { bavail, blocks, bsize } = statfsSync(place)
      const bytes = bavail * bsize
      const percent = blocks === 0 ? 100 : (bavail / blocks) * 100
      const free = `${Math.floor(bytes / 1_048_576)} MiB (${Math.floor(percent)} %) are free`
      const found = `${free} for ${dataDir}`
      if (bytes < bytesMin) {
        return [bad(found, 'make room: a change and a backup need it before they count')]
      }
      if (percent < percentMin) return [warning(found, 'make room soon')]
      return [good(found)]
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const todo = 'let the user of the node own it, or name another with dataDir'
      return [bad(`${place} cannot be read and written by this user: ${code ?? ''}`, todo)]
    }
  },
}

/** The directory, or the first existing one above it: a node makes the others. */
function existing(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return path
  const above = dirname(path)
  return above === path ? path : existing(above)
}

export const backups: Check = {
  name: 'backups',
  look: async (node) => [newestBackup(node)],
}

/** A backup takes a while, and is tried again each minute. */
const intervalsMax = 2
const backupTodo = 'see the log, which says why none can be taken, and whether the node runs'

function newestBackup({ settings }: CheckedNode): Finding {
  const { roles, dataDir, backup } = settings
  const { directory, intervalMs, enabled } = backup
  if (!roles.includes('control')) return good('this node has nothing that is backed up')
  if (!isListed(directory)) return unknown(`${directory} cannot be read by this user`)
  const nowMs = systemClock.nowMs()
  const newestMs = newestBackupMs(directory, nowMs)
  const ageMs = newestMs === null ? null : nowMs - newestMs
  const age = ageMs === null ? 'there is none' : `the newest is ${ageText(ageMs / 1_000)} old`
  const found = `${age} in ${directory}`
  if (!enabled) return unknown(`backup.enabled is false: this node takes none by itself; ${found}`)
  if (ageMs !== null && ageMs <= intervalsMax * intervalMs) return good(found)
  const hasNothing = ageMs === null && !existsSync(join(dataDir, 'keys', 'node.pem'))
  return hasNothing
    ? unknown(`${found}: this node has stored nothing yet`)
    : warning(found, backupTodo)
}

/** A missing directory is made with the first backup. */
function isListed(directory: string): boolean {
  try {
    accessSync(directory, constants.R_OK | constants.X_OK)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
