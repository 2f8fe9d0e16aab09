// Whether the data directory can be written, and how much room its disk has.
import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { bad, good, warning } from './check.ts'
import type { Check } from './check.ts'

/** Fewer are a handful of bundles and commits. */
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

/** The directory, or the first above it that is there: a node makes the rest. */
function existing(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return path
  const above = dirname(path)
  return above === path ? path : existing(above)
}
