// The members that were discovered last, in a file of the data directory.
import { isIP } from 'node:net'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { FoundMembers, LastMembers } from '../ports/last-members.ts'
import { isFields, parseJson } from '#lib/text/json.ts'
import { createLastGoodFile } from './last-good-file.ts'

const lastMembersLimits = {
  /** For one question. */
  membersMax: 10_000,
  weightMax: 65_535,
} as const

export function createFileLastMembers(path: string, clock: Clock, log: Log): LastMembers {
  return createLastGoodFile<FoundMembers>({
    ...{ path, clock, log, read: foundMembersIn },
    nameOf: ({ name }) => name,
    unstored: 'discovered members cannot be stored: after a restart they are discovered first',
    unread: 'the file of discovered members cannot be read; they are discovered first',
  })
}

/** @returns undefined: the line is no JSON of this form */
function foundMembersIn(line: string): FoundMembers | undefined {
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
