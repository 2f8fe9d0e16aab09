// Commits a transferred zone, and explains a failure in terms of the zone.
import type { CommitResult, NeedsPlan, Operation, WriteFailure } from '#config/operation.ts'
import type { WriteDiagnostic, WriteRequest } from '#config/operation.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { uuidV7 } from '#lib/uuid.ts'
import type { RecordSet } from '#schemas/objects/records.ts'
import type { TakeFault } from '#zones/inbound/zone-follower.ts'

export type Write = (request: WriteRequest) => Promise<CommitResult>

/** Author of the commits: the node itself, and no user. */
const actor = { name: 'gslbd', address: 'node@gslbd' } as const

/** @param override why guardrails do not matter; undefined: they do */
export async function writeZone(
  write: Write,
  operations: readonly Operation[],
  { subject, override, nowMs }: { subject: string; override?: string | undefined; nowMs: number },
): Promise<Result<null, TakeFault>> {
  if (operations.length === 0) return ok(null)
  const done = await write({
    ...{ requestId: uuidV7(nowMs), actor, operations, subject, hasMany: true },
    // Records choose no members: no client is moved.
    judgement: { by: 'nobody' },
    ...(override === undefined ? {} : { override }),
  })
  return done.ok ? ok(null) : err(faultOf(done.error, operations))
}

/**
 * Failures of what was written, and not of who writes: the next try would fail, too. A conflict
 * without diagnostics is none of them: another node has made the file of this name meanwhile.
 */
const ofContent: ReadonlySet<string> = new Set(['invalid', 'conflict', 'forbidden', 'too-many'])
const diagnosticsShown = 3

function faultOf(failure: WriteFailure | NeedsPlan, operations: readonly Operation[]): TakeFault {
  const { code, message, diagnostics } = failure
  if (failure.code === 'guarded') {
    return { is: 'held', reason: failure.own?.message ?? message.replace(/ If that is .*$/s, '') }
  }
  const isRace = code === 'conflict' && diagnostics.length === 0
  if (!ofContent.has(code) || isRace) return { is: 'later', reason: message }
  if (diagnostics.length === 0) return { is: 'refused', reason: message }
  const shown = diagnostics.slice(0, diagnosticsShown).map((one) => said(one, operations))
  const more = diagnostics.length - shown.length
  return { is: 'refused', reason: shown.join('; ') + (more > 0 ? `; and ${more} more` : '') }
}

/**
 * The finding with the name and type of the record set that it is about; one about a file that
 * people write, with its place and what to do.
 */
function said(
  { message, help, field, file, line, other }: WriteDiagnostic,
  operations: readonly Operation[],
): string {
  if (other !== undefined) return `${file}:${line}: ${message} (${other}): ${help}`
  const index = Number(/^spec\.records[.[](\d+)/.exec(field)?.[1] ?? -1)
  const sets = operations.flatMap((operation) => recordsIn(operation)[index] ?? [])
  const [set] = sets
  if (set === undefined || sets.length > 1) return message
  return `${set.name} ${set.type}: ${message}`
}

function recordsIn(operation: Operation): readonly RecordSet[] {
  const fields =
    operation.verb === 'create'
      ? operation.spec
      : operation.verb === 'update'
        ? operation.patch
        : {}
  return (fields['records'] ?? []) as unknown as readonly RecordSet[]
}
