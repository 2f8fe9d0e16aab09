// The ids that the API gives to new things: made once, so that a request that is applied again, on
// another commit, makes the same things.
import { randomBytes } from 'node:crypto'
import type { JsonObject, JsonValue } from '#compiler/yaml/text.ts'
import type { Clock } from '#lib/clock.ts'
import { isPartKind, partKindsOf, partSpecs } from './parts.ts'
import type { Operation, WriteRequest } from './operation.ts'

/** UUIDv7 (RFC 9562 section 5.7): sorts by the time it was made. */
export function uuidv7(nowMs: number): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Math.floor(nowMs), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  const at = [0, 8, 12, 16, 20, 32]
  return at
    .slice(1)
    .map((end, i) => hex.slice(at[i], end))
    .join('-')
}

export function withUids(request: WriteRequest, clock: Clock): WriteRequest {
  const mint = (): string => uuidv7(clock.nowMs())
  return { ...request, operations: request.operations.map((one) => completed(one, mint)) }
}

function completed(operation: Operation, mint: () => string): Operation {
  if (operation.verb === 'create' && 'owner' in operation) {
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

/** Members, geo rules and response rules that are given with their object. */
function withPartUids({ kind }: Operation, fields: JsonObject, mint: () => string): JsonObject {
  if (isPartKind(kind)) return fields
  const next: Record<string, JsonValue> = { ...fields }
  for (const partKind of partKindsOf(kind)) {
    const { list } = partSpecs[partKind]
    const parts = next[list]
    if (!Array.isArray(parts)) continue
    next[list] = (parts as readonly JsonValue[]).map((part) =>
      isObject(part) && part['uid'] === undefined ? { ...part, uid: mint() } : part,
    )
  }
  return next
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
