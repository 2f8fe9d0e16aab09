// Parses the pinned list of signers: OpenSSH's allowed_signers (ssh-keygen(1)).
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { gitLimits } from '#gitops/limits.ts'
import { ed25519Type, publicKeyFromBlob } from './openssh-key.ts'
import type { SshPublicKey } from './openssh-key.ts'
import { isBase64 } from './ssh-wire.ts'

export interface AllowedSigner {
  /** `alice@example.com`, or a comma-separated pattern list, without quotes. */
  readonly principals: string
  readonly publicKey: SshPublicKey
  /** Pattern list of `namespaces=`; empty allows every namespace. */
  readonly namespaces: string
  /** Seconds since the epoch, inclusive; -Infinity when unset. */
  readonly validAfter: number
  /** Seconds since the epoch, inclusive; Infinity when unset. */
  readonly validBefore: number
  /** 1-based, for messages. */
  readonly line: number
}

/**
 * Key types that OpenSSH knows and gslbd does not verify: such lines are valid, and match nothing.
 */
const otherKeyTypes =
  /^(?:ssh-(?:rsa|dss)|ecdsa-sha2-[a-z0-9-]+|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)$/

/**
 * Parses the file. Errors: a sentence that names the line. One bad line refuses the whole file, so
 * that a typo cannot widen or narrow trust unseen.
 */
export function parseAllowedSigners(text: string): Result<readonly AllowedSigner[], string> {
  if (text.length > gitLimits.allowedSignersBytesMax) return err('the file is larger than 1 MiB')
  const lines = text.split('\n')
  if (lines.length > gitLimits.allowedSignersLinesMax) {
    return err(`the file has more than ${gitLimits.allowedSignersLinesMax} lines`)
  }
  const signers: AllowedSigner[] = []
  for (const [index, raw] of lines.entries()) {
    const line = raw.replace(/^[ \t]+/, '')
    if (line === '' || line === '\r' || line.startsWith('#')) continue
    const parsed = parseLine(line, index + 1)
    if (!parsed.ok) return err(`line ${index + 1}: ${parsed.error}`)
    if (parsed.value !== undefined) signers.push(parsed.value)
  }
  return ok(signers)
}

/**
 * Parses a line as `parse_principals_key_and_options` of OpenSSH does, with the same white space.
 */
function parseLine(line: string, lineNumber: number): Result<AllowedSigner | undefined, string> {
  if (line.includes('\0')) return err('it has a NUL character; write the line anew')
  const first = takePrincipals(line)
  if (!first.ok) return first
  const { principals, rest } = first.value
  const hasOptions = keyTypeOf(rest) === ''
  const end = hasOptions ? endOfOptions(rest) : 0
  if (end === -1) return err('a quote is not closed')
  const keyText = rest.slice(end).replace(/^[ \t]+/, '')
  const type = keyTypeOf(keyText)
  if (principals === '' || type === '') {
    return err(
      `expected "PRINCIPALS [OPTIONS] ${ed25519Type} BASE64", but there is no principal or no ` +
        'type of key',
    )
  }
  const options = parseOptions(rest.slice(0, end))
  if (!options.ok) return options
  if (type !== ed25519Type) return ok(undefined)
  const [body = ''] = keyText
    .slice(type.length)
    .replace(/^[ \t]+/, '')
    .split(/[ \t\r]/, 1)
  const key = isBase64(body) ? publicKeyFromBlob(Buffer.from(body, 'base64')) : err('malformed')
  if (!key.ok) return err('the base64 part of the key is damaged; copy the whole line again')
  return ok({ principals, publicKey: key.value, ...options.value, line: lineNumber })
}

/** Takes the first word, up to white space; in a quoted part, white space belongs to it. */
function takePrincipals(line: string): Result<{ principals: string; rest: string }, string> {
  const end = line.search(/[ \t\r"]/)
  const at = end === -1 ? line.length : end
  if (line.charAt(at) !== '"') {
    return ok({ principals: line.slice(0, at), rest: line.slice(at).replace(/^[ \t\r]+/, '') })
  }
  const close = line.indexOf('"', at + 1)
  if (close === -1) return err('a quote is not closed')
  const principals = line.slice(0, at) + line.slice(at + 1, close)
  return ok({ principals, rest: line.slice(close + 1).replace(/^[ \t\r]+/, '') })
}

/** @returns '' when the text does not begin with a key type */
function keyTypeOf(text: string): string {
  const [word = ''] = text.split(/[ \t]/, 1)
  const isKeyType = word === ed25519Type || otherKeyTypes.test(word)
  return isKeyType && word !== text ? word : ''
}

/** @returns -1 when a quote is not closed */
function endOfOptions(text: string): number {
  let isQuoted = false
  let at = 0
  for (; at < text.length && (isQuoted || !' \t'.includes(text.charAt(at))); at++) {
    if (text.startsWith('\\"', at)) at++
    else if (text.charAt(at) === '"') isQuoted = !isQuoted
  }
  return isQuoted ? -1 : at
}

type Options = Pick<AllowedSigner, 'namespaces' | 'validAfter' | 'validBefore'>

const fields = {
  namespaces: 'namespaces',
  'valid-after': 'validAfter',
  'valid-before': 'validBefore',
}
const optionShape = /^(namespaces|valid-after|valid-before)="((?:\\"|[^"\\]|\\(?!"))*)"/i

function parseOptions(text: string): Result<Options, string> {
  let options: Partial<Options> = {}
  let rest = text
  while (rest !== '') {
    const [whole = '', written = '', quoted = ''] = optionShape.exec(rest) ?? []
    // OpenSSH compares names of options without regard to case.
    const name = written.toLowerCase()
    if (whole !== '') {
      const field = fields[name as keyof typeof fields] as keyof Options
      if (field in options) return err(`${name}= stands twice; make one of the two`)
      const value = valueOf(name, quoted.replaceAll('\\"', '"'))
      if (!value.ok) return value
      options = { ...options, [field]: value.value }
      rest = rest.slice(whole.length)
    }
    if (rest === '') break
    if (!rest.startsWith(',')) return err(notAnOption(rest))
    rest = rest.slice(1)
    if (rest === '') return err('its options end with a comma; take it away')
  }
  const { namespaces = '', validAfter = -Infinity, validBefore = Infinity } = options
  if (validBefore <= validAfter) return err('valid-before= is not later than valid-after=')
  return ok({ namespaces, validAfter, validBefore })
}

function valueOf(name: string, value: string): Result<string | number, string> {
  if (name === 'namespaces') {
    if (value !== '') return ok(value)
    return err('namespaces= needs a list, such as namespaces="git,gslb-attest"')
  }
  const seconds = parseTime(value)
  if (seconds !== undefined) return ok(seconds)
  return err(
    `${name}="${value}" is not a time; write YYYYMMDDZ or YYYYMMDDHHMM[SS]Z, in UTC: without ` +
      'the Z each machine would read the time of its own zone',
  )
}

function notAnOption(rest: string): string {
  const [name = ''] = rest.split(/[=,]/, 1)
  const known = name.toLowerCase()
  if (known === 'cert-authority') {
    return 'certificates are not supported; remove cert-authority and list each key'
  }
  if (known in fields) return `${known}= needs its value in double quotes: ${known}="…"`
  return `unknown option "${name}"; known are namespaces=, valid-after= and valid-before=`
}

/** Parses YYYYMMDD[HHMM[SS]]Z to seconds since the epoch; undefined: there is no such time. */
function parseTime(text: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(?:Z|UTC)$/i.exec(text)
  if (match === null) return undefined
  const digits = match.slice(1).map((part) => part ?? '00')
  const [year, month, day, hour, minute, second] = digits
  // Date would turn the 31st of February into March; that is refused as a mistake.
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
  const atMs = Date.parse(iso)
  if (!(atMs > 0) || new Date(atMs).toISOString() !== iso) return undefined
  return atMs / 1000
}

interface SignerQuery {
  readonly publicKey: SshPublicKey
  readonly namespace: string
  /** Time of the signature, as the signer claims, in seconds since the epoch. */
  readonly atSeconds: number
}

/**
 * Finds the line that allows this key, for this use, at this time. git asks ssh-keygen twice: the
 * first line of the key that is valid at the time names its owner, and any valid line of that owner
 * suffices. Errors: a clause about the key.
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
  const isValid = (s: AllowedSigner): boolean =>
    s.validAfter <= atSeconds && atSeconds <= s.validBefore
  const valid = forUse.filter(isValid)
  if (valid.length === 0) {
    const when = new Date(atSeconds * 1000).toISOString()
    return err(
      `key ${publicKey.fingerprint} was not valid at ${when} (allowed_signers line ${last.line})`,
    )
  }
  const whose = ofKey.find(isValid)!
  const names = namesOf(whose)
  const found = valid.find(({ principals }) =>
    names.some((name) => matchesPatternList(name, principals)),
  )
  if (found !== undefined) return ok(found)
  return err(
    `key ${publicKey.fingerprint} is of "${whose.principals}", as allowed_signers line ` +
      `${whose.line} says, and no line allows one of these to sign for "${namespace}"`,
  )
}

/** The names of a line, as ssh-keygen prints them: up to the first empty one. */
function namesOf({ principals }: AllowedSigner): readonly string[] {
  const names = principals.split(',')
  const end = names.indexOf('')
  return end === -1 ? names : names.slice(0, end)
}

/** Whether the line names the principal itself: a pattern that matches is not enough. */
export function isOf(signer: AllowedSigner, principal: string): boolean {
  return namesOf(signer).includes(principal) && matchesPatternList(principal, signer.principals)
}

/** Value in `namespaces=` of keys that may declare a change beyond the guardrails as meant. */
export const overrideNamespace = 'gslb-override'

export function isAllowedFor({ namespaces }: AllowedSigner, namespace: string): boolean {
  return namespaces === '' || matchesPatternList(namespace, namespaces)
}

/** Matches OpenSSH's pattern lists: `*` and `?`, comma-separated; a match of `!pattern` refuses. */
export function matchesPatternList(value: string, list: string): boolean {
  let matched = false
  const octets = octetsOf(value)
  for (const entry of octetsOf(list).split(',')) {
    const isNegated = entry.startsWith('!')
    const pattern = isNegated ? entry.slice(1) : entry
    if (pattern.length > gitLimits.signerPatternBytesMax) return false
    if (!matchesPattern(octets, pattern)) continue
    if (isNegated) return false
    matched = true
  }
  return matched
}

/** Each octet becomes a character: `?` of OpenSSH stands for one octet. */
const octetsOf = (text: string): string => Buffer.from(text).toString('latin1')

/** Backtracks to the last `*` only, so that no pattern is slow. */
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
