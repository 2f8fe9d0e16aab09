// The members that were discovered last, in one file of the data directory, written whole.
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname } from 'node:path'
import { sweepTemporary, writeDurably } from '#lib/durable-file.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { FoundMembers, LastMembers } from '../ports/last-members.ts'
import { isFields, parseJson } from '#lib/text/json.ts'

export const lastMembersLimits = {
  /** A larger file is not read. */
  bytesMax: 67_108_864,
  /** Older ones are not answered after a restart. */
  ageMaxMs: 7 * 86_400_000,
  /** For one question. */
  membersMax: 10_000,
  weightMax: 65_535,
} as const

/** A file that is missing, damaged or not readable is none; what is odd in it is left out. */
export function createFileLastMembers(path: string, clock: Clock, log: Log): LastMembers {
  const known = read(path, log)
  return {
    of: (name) => {
      const found = known.get(name)
      const isOld = clock.nowMs() - (found?.atMs ?? 0) > lastMembersLimits.ageMaxMs
      return isOld ? undefined : found
    },
    keep: (all) => {
      known.clear()
      for (const one of all) known.set(one.name, one)
      try {
        writeDurably(path, all.map((one) => `${JSON.stringify(one)}\n`).join(''), 0o600)
      } catch (error) {
        log.warn(
          { file: path, err: error },
          'discovered members cannot be stored: after a restart they are discovered first',
        )
      }
    },
  }
}

function read(path: string, log: Log): Map<string, FoundMembers> {
  const known = new Map<string, FoundMembers>()
  try {
    sweepTemporary(dirname(path))
    const bytes = statSync(path, { throwIfNoEntry: false })?.size
    if (bytes === undefined) return known
    if (bytes > lastMembersLimits.bytesMax) {
      log.warn({ file: path, bytes }, 'the file of discovered members is too large to be read')
      return known
    }
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const one = foundMembersIn(line)
      if (one !== undefined) known.set(one.name, one)
    }
  } catch (error) {
    log.warn({ file: path, err: error }, 'the file of discovered members cannot be read')
  }
  return known
}

/** @returns undefined: the line is no JSON of this form */
export function foundMembersIn(line: string): FoundMembers | undefined {
  const value = parseJson(line)
  if (!isFields(value)) return undefined
  const { name, members, atMs } = value
  if (typeof name !== 'string' || typeof atMs !== 'number' || !Number.isFinite(atMs)) {
    return undefined
  }
  if (!Array.isArray(members) || members.length > lastMembersLimits.membersMax) return undefined
  return members.every(isMember) ? { name, members, atMs } : undefined
}

function isMember(one: unknown): one is readonly [string, number] {
  if (!Array.isArray(one) || one.length !== 2) return false
  const [address, weight] = one as unknown[]
  if (typeof address !== 'string' || isIP(address) === 0) return false
  const { weightMax } = lastMembersLimits
  return Number.isInteger(weight) && Number(weight) >= 1 && Number(weight) <= weightMax
}
