// What a control node tells other nodes of a source, as text: the targets, when they were found,
// and a signature, since whoever writes there would say where clients are sent.
import { isFields, parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { RawTarget } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import { keptTextLimits } from '#state/ports/kept-texts.ts'

interface FleetDocument {
  /** What was asked: `SOURCE/SERVICE`. */
  readonly key: string
  /** When it was found, Unix epoch. */
  readonly atMs: number
  /** For so long it may be believed. */
  readonly freshMs: number
  readonly targets: readonly RawTarget[]
}

/** @returns a signature in printable ASCII without blanks */
export type SignText = (text: string) => string
/** @returns the key that has signed the text; undefined: none that is trusted */
export type SignerOf = (text: string, signature: string) => string | undefined

export const fleetDocumentLimits = {
  signatureMax: 200,
  /** The longest interval of a source is a day. */
  freshMaxMs: 3 * 86_400_000,
} as const

export function printTargets(
  { key, atMs, freshMs, targets }: FleetDocument,
  sign: SignText,
): string {
  const rows = targets.map(({ address, port, labels }) => [
    ...[address, port],
    [...labels].map(([name, values]) => [name, ...values]),
  ])
  const text = JSON.stringify({ version, key, atMs, freshMs, targets: rows })
  return `${sign(text)}\n${text}`
}

const version = 1

interface SignedTargets extends FleetDocument {
  /** Id of the key that has signed it. */
  readonly signer: string
}

/** Errors: a sentence without its full stop. */
export function readTargets(
  whole: string,
  key: string,
  signerOf: SignerOf,
): Result<SignedTargets, string> {
  const end = whole.indexOf('\n')
  const [signature, text] = [whole.slice(0, Math.max(0, end)), whole.slice(end + 1)]
  const { signatureMax, freshMaxMs } = fleetDocumentLimits
  if (whole.length > keptTextLimits.textMax) return err('it is too large')
  const isForm = signature !== '' && signature.length <= signatureMax
  const signer = isForm ? signerOf(text, signature) : undefined
  if (signer === undefined) {
    return err('what is shared is signed by no node that bundle.keys names')
  }
  const json = parseJson(text)
  if (!isFields(json) || json['version'] !== version) return err('it has another form')
  const { atMs, freshMs, targets } = json
  if (json['key'] !== key) return err('it is of another source')
  if (!isTime(atMs) || !isTime(freshMs) || freshMs > freshMaxMs) return err('it has no time')
  if (!Array.isArray(targets) || targets.length > discoveryLimits.targetsMax) {
    return err(`it has no list of ${discoveryLimits.targetsMax} targets or less`)
  }
  const read = targets.map(targetOf)
  const all = read.filter((one) => one !== undefined)
  return all.length === read.length
    ? ok({ key, atMs, freshMs, targets: all, signer })
    : err('a target is none')
}

const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0

function targetOf(row: unknown): RawTarget | undefined {
  if (!Array.isArray(row) || row.length !== 3) return undefined
  const [address, port, labels] = row as readonly unknown[]
  if (!isText(address) || !isTime(port) || !Array.isArray(labels)) return undefined
  if (!labels.every(isLabel)) return undefined
  return { address, port, labels: new Map(labels.map(([name, ...values]) => [name, values])) }
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isLabel = (value: unknown): value is [string, ...string[]] =>
  Array.isArray(value) && value.length > 0 && value.every(isText)
