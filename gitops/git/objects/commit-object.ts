// Parses a raw commit object: its headers, and the exact bytes that its signature covers.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { gitLimits } from '#gitops/limits.ts'
import { trailerValues } from './trailers.ts'

export interface CommitObject {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Identity
  readonly committer: Identity
  /** First line of the message, at most 200 characters. */
  readonly subject: string
  /** The reason of `Gslb-Override`, at most 200 characters; empty: no trailer, or no reason. */
  readonly override: string
  /**
   * Values of `Gslb-Back`: commits that this one says it goes back to; `ID^` is the parent of one.
   */
  readonly back: readonly string[]
  /** Commits that the message reverts, in the words of `git revert`. */
  readonly reverts: readonly string[]
  /** Armored text of the `gpgsig` header; empty when unsigned. */
  readonly signature: string
  /** The object without its `gpgsig` header: what was signed. */
  readonly payload: Buffer
}

export interface Identity {
  /** `Name <mail>`, as written. */
  readonly name: string
  /** Seconds since the epoch, as the author of the commit claims. */
  readonly seconds: number
}

const objectId = /^[0-9a-f]{40}$/
const identityShape = /^(.*>) (\d{1,12}) [+-]\d{4}$/

/**
 * Parses a commit more strictly than git: a header that two readers could take differently is
 * refused, so that what was signed is what is compiled. Errors: a clause that continues "the commit
 * …".
 */
export function parseCommit(raw: Uint8Array): Result<CommitObject, string> {
  if (raw.length > gitLimits.commitBytesMax)
    return err(`is larger than ${gitLimits.commitBytesMax} bytes`)
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const split = splitHeaders(bytes)
  if (!split.ok) return split
  const { headers, messageStart } = split.value
  const named = (name: string): Header[] => headers.filter((header) => header.name === name)
  const parents = named('parent').map((header) => header.value)
  const expected = ['tree', ...parents.map(() => 'parent'), 'author', 'committer']
  if (!expected.every((name, i) => headers[i]?.name === name))
    return err('has its headers in a wrong order')
  const later = headers.slice(expected.length).map((header) => header.name)
  if (later.some((name) => expected.includes(name))) return err('repeats a header')
  if (parents.length > gitLimits.parentsMax)
    return err(`has more than ${gitLimits.parentsMax} parents`)
  const tree = headers[0]?.value ?? ''
  if (![tree, ...parents].every((id) => objectId.test(id)))
    return err('has a damaged tree or parent header')
  const author = identityOf(named('author')[0]?.value ?? '')
  const committer = identityOf(named('committer')[0]?.value ?? '')
  if (author === undefined || committer === undefined)
    return err('has a damaged author or committer header')
  const signatures = headers.filter((header) => header.name.startsWith('gpgsig'))
  if (signatures.length > 1 || signatures.some((header) => header.name !== 'gpgsig')) {
    return err('has more than one signature header')
  }
  const [signature] = signatures
  const message = bytes.subarray(messageStart)
  const encoding = named('encoding')[0]?.value ?? ''
  return ok({
    tree,
    parents,
    author,
    committer,
    subject: subjectOf(bytes, messageStart),
    override: overrideOf(message, encoding),
    back: backOf(message, encoding),
    reverts: revertsOf(message),
    signature: signature?.value ?? '',
    payload:
      signature === undefined
        ? bytes
        : Buffer.concat([bytes.subarray(0, signature.start), bytes.subarray(signature.end)]),
  })
}

interface Header {
  readonly name: string
  /** Continuation lines joined by `\n`, their leading space removed. */
  readonly value: string
  readonly start: number
  /** Offset after the last line feed of the header. */
  readonly end: number
}

function splitHeaders(bytes: Buffer): Result<{ headers: Header[]; messageStart: number }, string> {
  const headers: Header[] = []
  let offset = 0
  while (offset < bytes.length && bytes[offset] !== 0x0a) {
    if (headers.length === gitLimits.commitHeadersMax) return err('has too many headers')
    const start = offset
    let end = bytes.indexOf(0x0a, offset)
    if (end === -1) return err('ends inside a header')
    const lines: string[] = [bytes.toString('utf8', start, end)]
    while (bytes[end + 1] === 0x20) {
      const next = bytes.indexOf(0x0a, end + 1)
      if (next === -1) return err('ends inside a header')
      lines.push(bytes.toString('utf8', end + 2, next))
      end = next
    }
    offset = end + 1
    const first = lines[0] ?? ''
    const space = first.indexOf(' ')
    if (space <= 0) return err('has a header without a value')
    lines[0] = first.slice(space + 1)
    headers.push({ name: first.slice(0, space), value: lines.join('\n'), start, end: offset })
  }
  return ok({ headers, messageStart: offset + 1 })
}

function identityOf(text: string): Identity | undefined {
  const match = identityShape.exec(text)
  return match === null ? undefined : { name: printable(match[1] ?? ''), seconds: Number(match[2]) }
}

function subjectOf(bytes: Buffer, start: number): string {
  const message = bytes.toString('utf8', start, Math.min(bytes.length, start + 800)).trimStart()
  return printable((message.split('\n', 1)[0] ?? '').slice(0, 200))
}

export const overrideTrailer = 'Gslb-Override'

/** The reason of the first override trailer that has one. */
function overrideOf(message: Buffer, encoding: string): string {
  const reasons = trailerValues(message, overrideTrailer, encoding)
  return reasons.map((reason) => printable(reason.slice(0, 200)).trim()).find(Boolean) ?? ''
}

export const backTrailer = 'Gslb-Back'
const backShape = /^[0-9a-f]{7,40}\^?$/
/** The sentence that `git revert` writes; for a merge it names a second commit. */
const revertLine =
  /^This reverts commit ([0-9a-f]{7,40})\b(?:, reversing\r?\nchanges made to ([0-9a-f]{7,40})\b)?/gm

function backOf(message: Buffer, encoding: string): readonly string[] {
  const given = trailerValues(message, backTrailer, encoding).map((one) => one.toLowerCase())
  return given.filter((one) => backShape.test(one)).slice(0, gitLimits.backNamesMax)
}

function revertsOf(message: Buffer): readonly string[] {
  const reverts = message.toString('latin1').matchAll(revertLine).take(gitLimits.backNamesMax)
  return Array.from(reverts, ([, reverted, before]) => before ?? `${reverted}^`)
}

/** Replaces control characters: text of a commit must not steer a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?')
}

export interface CommitDraft {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Identity
  readonly committer: Identity
  readonly message: string
}

/**
 * Formats a commit, with times in UTC. `sign` gets the object without a signature, and returns the
 * armored signature over it, or ''.
 */
export function formatCommit(draft: CommitDraft, sign: (payload: Buffer) => string): Buffer {
  const line = ({ name, seconds }: Identity): string => `${name} ${seconds} +0000`
  const headers = [
    `tree ${draft.tree}`,
    ...draft.parents.map((parent) => `parent ${parent}`),
    `author ${line(draft.author)}`,
    `committer ${line(draft.committer)}`,
  ]
  const message = draft.message.endsWith('\n') ? draft.message : `${draft.message}\n`
  const payload = Buffer.from(`${headers.join('\n')}\n\n${message}`)
  const signature = sign(payload).trimEnd()
  if (signature === '') return payload
  headers.push(`gpgsig ${signature.split('\n').join('\n ')}`)
  return Buffer.from(`${headers.join('\n')}\n\n${message}`)
}
