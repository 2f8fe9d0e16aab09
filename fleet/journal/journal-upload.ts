// Defines a part of a journal as a node of the role dns sends it to a control node, and checks it.
import { nodeNamePattern } from '#fleet/nodes/node-report.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface JournalUpload {
  readonly node: string
  /** Random, chosen when the process starts. */
  readonly run: string
  /** Number of the segment. */
  readonly number: number
  /** Offset of the octets in the segment. */
  readonly at: number
  /** Empty: asks how much of the segment is stored. */
  readonly octets: Buffer
}

export const journalUploadLimits = {
  octetsMax: 2 * 1_048_576,
  /** Octets of the JSON, in which four letters encode three octets. */
  bytesMax: 3_000_000,
  numberMax: 1e15,
  /** Parts that a control node takes at once; further ones get 503. */
  underWayMax: 4,
} as const

export const journalPath = 'bundles/journal'

/** Encodes a part as JSON. */
export const sentPart = ({ node, run, number, at, octets }: JournalUpload): string =>
  JSON.stringify({ node, run, number, at, octets: octets.toString('base64') })

const nameForm = new RegExp(nodeNamePattern)
const runForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Does not examine the content of the octets. Errors: a sentence that names the field.
 *
 * @param own name of the receiving node, which has its own journal
 */
export function readJournalUpload(value: unknown, own: string): Result<JournalUpload, string> {
  if (typeof value !== 'object' || value === null) return err('a part is a JSON object')
  const { node, run, number, at, octets } = value as Readonly<Record<string, unknown>>
  if (!isText(node, nameForm)) return refused('node')
  if (node === own) {
    return err(`node: a control node is ${own}: give the node another state.nodeName`)
  }
  if (!isText(run, runForm)) return refused('run')
  if (!isCount(number)) return refused('number')
  if (!isCount(at)) return refused('at')
  const read = typeof octets === 'string' ? octetsIn(octets) : undefined
  if (read === undefined) return refused('octets')
  return ok({ node, run, number, at, octets: read })
}

const refused = (field: string) => err(`${field} is missing or has another form`)

/** Refuses Base64 that is not canonical (RFC 4648 section 4). */
function octetsIn(text: string): Buffer | undefined {
  const { octetsMax } = journalUploadLimits
  if (text.length > Math.ceil(octetsMax / 3) * 4) return undefined
  const octets = Buffer.from(text, 'base64')
  return octets.toString('base64') === text && octets.length <= octetsMax ? octets : undefined
}

const isText = (value: unknown, form: RegExp): value is string =>
  typeof value === 'string' && value.length <= 253 && form.test(value)
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) &&
  (value as number) >= 0 &&
  (value as number) <= journalUploadLimits.numberMax
