// Parses and prints health verdicts as lines of JSON; the last line of a member wins.
import type { StoredVerdict, VerdictOwner } from '../ports/health-verdicts.ts'
import { isFields, parseJson } from '#lib/text/json.ts'

export type VerdictMap = Map<string, StoredVerdict>

/** This program writes no longer lines. */
const lineCharactersMax = 2_048
/** Characters of a reason; each may take six in JSON. */
const reasonCharactersMax = 200

export function verdictKey({ memberUid, ipAddress }: VerdictOwner): string {
  return `${memberUid} ${ipAddress}`
}

export function savedLine(verdict: StoredVerdict): string {
  return `${JSON.stringify(storedForm(verdict))}\n`
}

/** What the file keeps of a verdict. */
export function storedForm({
  memberUid,
  ipAddress,
  healthy,
  warming,
  reason = '',
  atMs,
}: StoredVerdict): StoredVerdict {
  const words = reason === '' || healthy ? {} : { reason: reason.slice(0, reasonCharactersMax) }
  return { memberUid, ipAddress, healthy, warming, ...words, atMs }
}

export function forgottenLine({ memberUid, ipAddress }: VerdictOwner): string {
  return `${JSON.stringify({ memberUid, ipAddress, forgotten: true })}\n`
}

/**
 * Later lines replace earlier ones. Text after the last line end is the rest of an interrupted
 * write, and not counted as damage.
 *
 * @returns the number of whole lines that could not be read
 */
export function readVerdictLines(text: string, into: VerdictMap): number {
  let damaged = 0
  let from = 0
  for (;;) {
    const end = text.indexOf('\n', from)
    if (end < 0) return damaged
    if (end - from > lineCharactersMax || !readLine(text.slice(from, end), into)) damaged++
    from = end + 1
  }
}

function readLine(line: string, into: VerdictMap): boolean {
  const value = parseJson(line)
  if (!isFields(value)) return false
  const { memberUid, ipAddress, healthy, warming, reason, atMs, forgotten } = value
  if (typeof memberUid !== 'string' || typeof ipAddress !== 'string') return false
  const key = verdictKey({ memberUid, ipAddress })
  if (forgotten === true) {
    into.delete(key)
    return true
  }
  if (typeof healthy !== 'boolean' || typeof warming !== 'boolean') return false
  if (typeof atMs !== 'number' || !Number.isFinite(atMs)) return false
  const words = typeof reason === 'string' ? { reason } : {}
  into.set(key, storedForm({ memberUid, ipAddress, healthy, warming, ...words, atMs }))
  return true
}
