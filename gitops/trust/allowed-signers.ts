// Parses the pinned list of signers: OpenSSH's allowed_signers (ssh-keygen(1)).
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { gitLimits } from '#gitops/limits.ts'
import { ed25519Type, publicKeyFromBlob } from './openssh-key.ts'
import type { SshPublicKey } from './openssh-key.ts'
import { isBase64 } from './ssh-wire.ts'

export interface AllowedSigner {
  /** As written: `alice@example.com`, or a comma-separated pattern list. */
  readonly principals: string
  readonly publicKey: SshPublicKey
  /** Pattern list of `namespaces=`; empty allows every namespace. */
  readonly namespaces: string
  /** Seconds since the epoch, inclusive; -Infinity when unset. */
  readonly validAfter: number
  /** Seconds since the epoch, exclusive; Infinity when unset. */
  readonly validBefore: number
  /** 1-based, for messages. */
  readonly line: number
}

/**
 * Key types that OpenSSH knows and gslbd does not verify: their lines are lawful, but match
 * nothing.
 */
const otherKeyTypes =
  /^(?:ssh-(?:rsa|dss)|ecdsa-sha2-[a-z0-9-]+|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)$/

/**
 * Errors: a sentence that names the line. One bad line refuses the file: a typo must not widen or
 * narrow trust unseen.
 */
export function parseAllowedSigners(text: string): Result<readonly AllowedSigner[], string> {
  if (text.length > gitLimits.allowedSignersBytesMax) return err('the file is larger than 1 MiB')
  const lines = text.split('\n')
  if (lines.length > gitLimits.allowedSignersLinesMax) {
    return err(`the file has more than ${gitLimits.allowedSignersLinesMax} lines`)
  }
  const signers: AllowedSigner[] = []
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const parsed = parseLine(line, index + 1)
    if (!parsed.ok) return err(`line ${index + 1}: ${parsed.error}`)
    if (parsed.value !== undefined) signers.push(parsed.value)
  }
  return ok(signers)
}

function parseLine(line: string, lineNumber: number): Result<AllowedSigner | undefined, string> {
  const words = splitWords(line)
  if (words === undefined) return err('a quote is not closed')
  const [principals = '', second = '', third = '', fourth = ''] = words
  const hasOptions = !isKeyType(second)
  const type = hasOptions ? third : second
  const body = hasOptions ? fourth : third
  if (principals === '' || !isKeyType(type)) {
    return err(
      `expected "PRINCIPALS [OPTIONS] ${ed25519Type} BASE64", but there is no principal or no ` +
        'type of key',
    )
  }
  const options = parseOptions(hasOptions ? second : '')
  if (!options.ok) return options
  if (type !== ed25519Type) return ok(undefined)
  const key = isBase64(body) ? publicKeyFromBlob(Buffer.from(body, 'base64')) : err('malformed')
  if (!key.ok) return err('the base64 part of the key is damaged; copy the whole line again')
  return ok({
    principals: unquote(principals),
    publicKey: key.value,
    ...options.value,
    line: lineNumber,
  })
}

const isKeyType = (word: string): boolean => word === ed25519Type || otherKeyTypes.test(word)

type Options = Pick<AllowedSigner, 'namespaces' | 'validAfter' | 'validBefore'>

function parseOptions(text: string): Result<Options, string> {
  let options: Options = { namespaces: '', validAfter: -Infinity, validBefore: Infinity }
  for (const option of splitOutsideQuotes(text, /,/)) {
    const equals = option.indexOf('=')
    // OpenSSH compares option names without regard to case.
    const name = (equals === -1 ? option : option.slice(0, equals)).toLowerCase()
    const value = equals === -1 ? '' : unquote(option.slice(equals + 1))
    if (name === 'namespaces') {
      if (value === '') return err('namespaces= needs a list, such as namespaces="git,gslb-attest"')
      options = { ...options, namespaces: value }
    } else if (name === 'valid-after' || name === 'valid-before') {
      const seconds = parseTime(value)
      if (seconds === undefined) {
        return err(
          `${name}="${value}" is not a time; write YYYYMMDD or YYYYMMDDHHMM[SS], with Z at ` +
            'the end for UTC',
        )
      }
      options = { ...options, [name === 'valid-after' ? 'validAfter' : 'validBefore']: seconds }
    } else if (name === 'cert-authority') {
      return err('certificates are not supported; remove cert-authority and list each key')
    } else {
      return err(`unknown option "${name}"; known are namespaces=, valid-after= and valid-before=`)
    }
  }
  return ok(options)
}

/** YYYYMMDD[HHMM[SS]][Z]; without Z in the local time zone, as OpenSSH has it. */
function parseTime(text: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const parts = [year!, month! - 1, day!, hour!, minute!, second!] as const
  // Date rolls the 31st of February over; a rolled date is a mistake of the writer.
  const asUtc = new Date(Date.UTC(...parts))
  if (asUtc.getUTCMonth() !== parts[1] || asUtc.getUTCDate() !== day || hour! > 23) return undefined
  const atMs = match[7] === 'Z' ? asUtc.getTime() : new Date(...parts).getTime()
  return Math.floor(atMs / 1000)
}

export interface SignerQuery {
  readonly publicKey: SshPublicKey
  readonly namespace: string
  /** Seconds since the epoch: when the signer says to have signed. */
  readonly atSeconds: number
}

/**
 * The first line that allows this key for this use at this time. Errors: a clause about the key.
 */
export function findSigner(
  signers: readonly AllowedSigner[],
  { publicKey, namespace, atSeconds }: SignerQuery,
): Result<AllowedSigner, string> {
  const ofKey = signers.filter((signer) => signer.publicKey.raw.equals(publicKey.raw))
  const last = ofKey.at(-1)
  if (last === undefined) return err(`key ${publicKey.fingerprint} is not in allowed_signers`)
  const forUse = ofKey.filter((signer) => isAllowedFor(signer, namespace))
  if (forUse.length === 0) {
    return err(
      `key ${publicKey.fingerprint} is not allowed for "${namespace}" (allowed_signers ` +
        `line ${last.line})`,
    )
  }
  const found = forUse.find((s) => s.validAfter <= atSeconds && atSeconds < s.validBefore)
  if (found !== undefined) return ok(found)
  const when = new Date(atSeconds * 1000).toISOString()
  return err(
    `key ${publicKey.fingerprint} was not valid at ${when} (allowed_signers line ${last.line})`,
  )
}

/** In `namespaces=`: its key may say that a change beyond the guardrails is meant. */
export const overrideNamespace = 'gslb-override'

export function isAllowedFor({ namespaces }: AllowedSigner, namespace: string): boolean {
  return namespaces === '' || matchesPatternList(namespace, namespaces)
}

/** OpenSSH's pattern lists: `*` and `?`, comma-separated; a match of `!pattern` refuses. */
export function matchesPatternList(value: string, list: string): boolean {
  let matched = false
  for (const entry of list.split(',')) {
    const isNegated = entry.startsWith('!')
    if (!matchesPattern(value, isNegated ? entry.slice(1) : entry)) continue
    if (isNegated) return false
    matched = true
  }
  return matched
}

/** Linear back-tracking on the last `*` only: no pattern can make it slow. */
function matchesPattern(value: string, pattern: string): boolean {
  let v = 0
  let p = 0
  let star = -1
  let resume = 0
  while (v < value.length) {
    if (pattern[p] === '*') {
      star = p++
      resume = v
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === value[v])) {
      p++
      v++
    } else if (star !== -1) {
      p = star + 1
      v = ++resume
    } else {
      return false
    }
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/** White space separates, except inside double quotes. undefined: a quote is not closed. */
function splitWords(line: string): string[] | undefined {
  if ((line.split('"').length - 1) % 2 !== 0) return undefined
  return splitOutsideQuotes(line, /\s/)
}

/** Empty parts are dropped. */
function splitOutsideQuotes(text: string, separator: RegExp): string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let i = 0; i <= text.length; i++) {
    const character = text.charAt(i)
    if (character === '"') isQuoted = !isQuoted
    if (character !== '' && (isQuoted || !separator.test(character))) continue
    if (i > start) parts.push(text.slice(start, i))
    start = i + 1
  }
  return parts
}

function unquote(text: string): string {
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}
