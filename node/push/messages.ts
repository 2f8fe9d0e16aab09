// Defines the question that the hook of a push sends to the node, and the answer: one line of JSON
// each.
import type { PushedHead } from '#gitops/sync/push-judge.ts'
import type { Stop } from '#gitops/sync/steps.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

/** Name of the socket in the data directory. */
export const pushSocketName = 'push.sock'
export const pushBytesMax = { question: 1_048_576, answer: 16_777_216 } as const
/** A SHA-1 or SHA-256 id. */
const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

export type Verdict = Pick<Stop, 'sync' | 'code' | 'reason' | 'note'> & {
  readonly diagnostics: readonly { readonly text: string }[]
}

/** Errors: the line is no valid question. */
export function readPushedHead(line: string): Result<PushedHead, string> {
  const { head, incoming, attestations } = fieldsOf(parseJson(line))
  const isPlace = incoming === null || typeof incoming === 'string'
  const isWhole = typeof head === 'string' && objectId.test(head) && isPlace
  if (!isWhole || !Array.isArray(attestations)) return err('the question is not understood')
  const pairs = attestations.filter(
    (pair): pair is [string, string] =>
      Array.isArray(pair) &&
      pair.length === 2 &&
      pair.every((one) => typeof one === 'string' && objectId.test(one)),
  )
  if (pairs.length < attestations.length) return err('the question is not understood')
  return ok({ head, incoming, attestations: new Map(pairs) })
}

/** @returns undefined: the node cannot judge now, or the answer is not valid */
export function readVerdict(line: string): Verdict | undefined {
  // A node of another version may not send the note.
  const { sync, code, reason, note = '', diagnostics } = fieldsOf(parseJson(line))
  const isWhole = [sync, code, reason, note].every((one) => typeof one === 'string')
  if (!isWhole || !Array.isArray(diagnostics)) return undefined
  const areLines = diagnostics.every((one: unknown) => typeof textOf(one) === 'string')
  if (!areLines) return undefined
  return { sync, code, reason, note, diagnostics } as Verdict
}

export const questionLine = ({ head, incoming, attestations }: PushedHead): string =>
  `${JSON.stringify({ head, incoming, attestations: [...attestations] })}\n`

const textOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'text' in value ? value.text : undefined
