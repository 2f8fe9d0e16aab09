// What was good last, by name, in one file of the data directory: a JSON object a line, written
// whole.
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { sweepTemporary, writeDurably } from '#lib/durable-file.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'

const lastGoodLimits = {
  /** Larger files are not read. */
  bytesMax: 67_108_864,
  /** Older entries are not used after a restart. */
  ageMaxMs: 7 * 86_400_000,
} as const

interface LastGoodParts<One> {
  readonly path: string
  readonly clock: Clock
  readonly log: Log
  readonly nameOf: (one: One) => string
  /** Returns undefined for an invalid line. */
  readonly read: (line: string) => One | undefined
  /** For the log: the entries cannot be stored. */
  readonly unstored: string
  /** For the log: the file cannot be read. */
  readonly unread: string
}

/** A missing, damaged or unreadable file counts as empty; invalid lines are skipped. */
export function createLastGoodFile<One extends { readonly atMs: number }>(
  parts: LastGoodParts<One>,
): {
  readonly of: (name: string) => One | undefined
  readonly keep: (all: readonly One[]) => void
} {
  const { path, clock, log, nameOf, unstored } = parts
  const known = readAll(parts)
  return {
    of: (name) => {
      const found = known.get(name)
      const isOld = clock.nowMs() - (found?.atMs ?? 0) > lastGoodLimits.ageMaxMs
      return isOld ? undefined : found
    },
    keep: (all) => {
      known.clear()
      for (const one of all) known.set(nameOf(one), one)
      try {
        writeDurably(path, all.map((one) => `${JSON.stringify(one)}\n`).join(''), 0o600)
      } catch (error) {
        log.warn({ file: path, err: error }, unstored)
      }
    },
  }
}

function readAll<One>({ path, log, nameOf, read, unread }: LastGoodParts<One>): Map<string, One> {
  const known = new Map<string, One>()
  try {
    sweepTemporary(dirname(path))
    const bytes = statSync(path, { throwIfNoEntry: false })?.size
    if (bytes === undefined) return known
    if (bytes > lastGoodLimits.bytesMax) {
      log.warn({ file: path, bytes }, unread)
      return known
    }
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const one = read(line)
      if (one !== undefined) known.set(nameOf(one), one)
    }
  } catch (error) {
    log.warn({ file: path, err: error }, unread)
  }
  return known
}
