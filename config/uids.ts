// Generates the ids of new objects once per request, so that a request applied again on another
// commit gives the same ids.
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import type { Clock } from '#lib/clock.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { isPartKind, partKindsOf, partSpecs } from './parts.ts'
import type { Operation, WriteRequest } from './operation.ts'
import { isFields } from '#lib/text/json.ts'

export function withUids(request: WriteRequest, clock: Clock): WriteRequest {
  const mint = (): string => uuidV7(clock.nowMs())
  return { ...request, operations: request.operations.map((one) => completed(one, mint)) }
}

function completed(operation: Operation, mint: () => string): Operation {
  if (operation.verb === 'create' && 'owner' in operation) {
    if (!partSpecs[operation.kind].isIdWritten) return operation
    const { uid, ...spec } = operation.spec
    return { ...operation, uid: operation.uid ?? (typeof uid === 'string' ? uid : mint()), spec }
  }
  if (operation.verb === 'create') {
    const spec = withPartUids(operation, operation.spec, mint)
    return { ...operation, uid: operation.uid ?? mint(), spec }
  }
  if (operation.verb !== 'update') return operation
  return { ...operation, patch: withPartUids(operation, operation.patch, mint) }
}

/** Gives ids to the members, geo rules and response rules of an object. */
function withPartUids({ kind }: Operation, fields: JsonObject, mint: () => string): JsonObject {
  if (isPartKind(kind)) return fields
  const next: Record<string, JsonValue> = { ...fields }
  for (const partKind of partKindsOf(kind)) {
    const { list, isIdWritten } = partSpecs[partKind]
    if (!isIdWritten) continue
    const parts = next[list]
    if (!Array.isArray(parts)) continue
    next[list] = (parts as readonly JsonValue[]).map((part) =>
      isFields(part) && part['uid'] === undefined ? { ...part, uid: mint() } : part,
    )
  }
  return next
}
