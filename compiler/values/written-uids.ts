// Collects the uids that a file declares: of its object, its members, its response rules.
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import { valueAt } from '#diagnostics/diagnostic.ts'
import type { Place } from '#diagnostics/diagnostic.ts'

/** In lower case. */
interface WrittenUid {
  readonly uid: string
  readonly place: Place
}

export function writtenUids(object: ObjectOf[Kind]): readonly WrittenUid[] {
  const written: WrittenUid[] = []
  const { uid } = object.metadata
  if (uid !== undefined) written.push({ uid: uid.toLowerCase(), place: valueAt('metadata', 'uid') })
  const [list, parts] = partsOf(object)
  for (const [i, part] of parts.entries()) {
    if (part.uid === undefined) continue
    written.push({ uid: part.uid.toLowerCase(), place: valueAt('spec', list, i, 'uid') })
  }
  return written
}

/** The parts of an object that have uids. */
function partsOf(object: ObjectOf[Kind]): [list: string, parts: readonly { uid?: string }[]] {
  if (object.kind === 'Pool') return ['members', object.spec.members]
  return object.kind === 'ResponsePolicy' ? ['rules', object.spec.rules] : ['', []]
}

/** The uid of an object, declared or derived, and the declared ones of its parts. */
export function uidsIn(uid: string, object: ObjectOf[Kind]): readonly string[] {
  const [, parts] = partsOf(object)
  const written = parts.map((part) => part.uid?.toLowerCase())
  return [uid, ...written.filter((one) => one !== undefined)]
}
