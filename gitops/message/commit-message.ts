// Formats the messages of commits that the API makes: who asked for what.
import type { Kind } from '#schemas/kinds.ts'
import { gitLimits } from '#gitops/limits.ts'
import { overrideTrailer } from '#gitops/git/objects/commit-object.ts'
import type { ConfigEntry, ConfigPart } from '#config/entry.ts'
import { isPartKind, partSpecs } from '#config/parts.ts'
import type { PartKind } from '#config/parts.ts'
import type { Actor, Operation, PartTarget, Target, WriteRequest } from '#config/operation.ts'

const fieldLengthMax = 200

interface CommitText {
  /** `Name <address>` */
  readonly author: string
  readonly message: string
}

/** Looks up the object or part of an operation: as it was before, or else as it will be. */
interface Named {
  readonly get: (kind: Kind, uid: string) => ConfigEntry | undefined
  readonly part: (kind: PartKind, uid: string) => ConfigPart | undefined
}

export const committer = 'gslbd <node@gslbd>'

/** Formats a message; each operation has a group of trailers for git-interpret-trailers(1). */
export function commitText(requests: readonly WriteRequest[], named: Named): CommitText {
  const notable = requests.flatMap(({ operations: list }) => notableOperations(list, named))
  const [first] = notable
  const isOne = notable.length === 1 && first !== undefined
  const own = isOne ? operationText(first, named, false) : `${notable.length} changes`
  // The subject of a request does not describe other requests in the same commit.
  const given = requests.length === 1 ? requests[0]?.subject : undefined
  const trailers = requests.flatMap((request) => trailersOf(request, named, given === undefined))
  const authors = new Set(requests.map(({ actor }) => authorOf(actor)))
  const [only] = authors
  return {
    author: authors.size === 1 && only !== undefined ? only : committer,
    message: `${plain(given ?? `api: ${own}`)}\n\n${trailers.join('\n')}\n`,
  }
}

/** @param hasSubject true: the subject of the commit is not the one of this request */
function trailersOf(
  { actor, requestId, operations: list, subject, override, reverts }: WriteRequest,
  named: Named,
  hasSubject: boolean,
): readonly string[] {
  return [
    ...operationTexts(list, named).flatMap((text) => [
      `Gslb-Operation: ${plain(text)}`,
      `Gslb-Actor: ${identity(actor)}`,
      `Gslb-Request: ${plain(requestId)}`,
    ]),
    ...(subject === undefined || !hasSubject ? [] : [`Gslb-Subject: ${plain(subject)}`]),
    ...(reverts === undefined ? [] : [`Gslb-Reverts: ${plain(reverts)}`]),
    ...(override === undefined ? [] : [`${overrideTrailer}: ${plain(override)}`]),
  ]
}

/** Many operations are counted by what they do, since a message has a limit. */
function operationTexts(operations: readonly Operation[], named: Named): readonly string[] {
  const notable = notableOperations(operations, named)
  if (notable.length <= gitLimits.writeOperationsMax) {
    return notable.map((operation) => operationText(operation, named, true))
  }
  const groups = Map.groupBy(notable, ({ verb, kind }) => `${verb} ${kind}`)
  return [...groups].map(([what, { length }]) => `${what}: ${length} of them`)
}

/** Leaves out operations that follow from others, such as the first half of a replaced service. */
function notableOperations(operations: readonly Operation[], named: Named): readonly Operation[] {
  const notable = operations.filter((operation) => !keepsName(operation, named))
  return notable.length === 0 ? operations : notable
}

function keepsName(operation: Operation, named: Named): boolean {
  if (operation.verb !== 'rename') return false
  return nameOf(operation.kind, operation.target, named) === operation.name
}

/** @param hasIds true: adds ids beside names, for programs; names are enough for people */
function operationText(operation: Operation, named: Named, hasIds: boolean): string {
  const { verb, kind } = operation
  const label = (of: Operation['kind'], target: Target | PartTarget): string => {
    const name = nameOf(of, target, named)
    const uid = 'uid' in target ? target.uid : ''
    return hasIds || name === undefined ? `${uid} ${name ?? ''}`.trim() : name
  }
  if (verb === 'create') {
    const id = hasIds && operation.uid !== undefined ? `${operation.uid} ` : ''
    if (!('owner' in operation)) return `create ${kind} ${id}${operation.name}`
    return `create ${kind} ${id}in ${label(partSpecs[operation.kind].owner, operation.owner)}`
  }
  if (verb === 'begin') {
    return `create Rollout ${hasIds ? `${operation.uid} ` : ''}${operation.name}`
  }
  const target = label(kind, operation.target)
  if (verb === 'decide') return `${operation.intent} ${kind} ${target}`
  if (verb === 'record') return `record the members of ${kind} ${target}`
  if (verb === 'disable-members') {
    return `disable ${operation.members.length} members of ${kind} ${target}`
  }
  return `${verb} ${kind} ${target}${verb === 'rename' ? ` to ${operation.name}` : ''}`
}

function nameOf(
  kind: Operation['kind'],
  target: Target | PartTarget,
  { get, part }: Named,
): string | undefined {
  if (!('uid' in target)) return target.name
  if (!isPartKind(kind)) return get(kind, target.uid)?.name
  const found = part(kind, target.uid)
  return found === undefined ? undefined : `${nameOfPart(found.part)} of ${found.owner.name}`
}

function nameOfPart(part: ConfigPart['part']): string {
  if ('cidr' in part) return part.cidr
  if ('triggerValue' in part) return part.triggerValue
  if ('values' in part) return `${part.name} ${part.type}`
  return part.name || part.ipAddress || part.hostname
}

/** The person's name as people know it; trailers have the address as well. */
function authorOf({ displayName = '', name, address }: Actor): string {
  const isGiven = displayName.replace(/[<>\p{Cc}\p{Cf}\s]/gu, '') !== ''
  return identity({ name: isGiven ? displayName : name, address })
}

/** Removes control characters, and characters that would end a name or an address early. */
function identity({ name, address }: Actor): string {
  const clean = (text: string): string => plain(text.replace(/[<>]/g, '')).trim()
  return `${clean(name) || 'unknown'} <${clean(address).replace(/\s/g, '') || 'unknown@gslbd'}>`
}

function plain(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .slice(0, fieldLengthMax)
    .toWellFormed()
}
