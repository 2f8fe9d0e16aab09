// Checks one value against one setting; each error says what to write instead.
import { isIP, isIPv4, isIPv6 } from 'node:net'
import type { Place, YamlPath } from '#diagnostics/diagnostic.ts'
import { unreachable } from '#lib/assert.ts'
import { isSshUrl } from '#gitops/source/remote-url.ts'
import { durationText, parseDuration } from '#lib/duration.ts'
import { parseCidr } from '#routing/tables/cidr.ts'
import { checkOf } from '#schemas/checks.ts'
import { didYouMean, suggest } from '#lib/suggest.ts'
import { nameLengthMax, namePattern } from '#settings/forms/forms.ts'
import type { SettingLeaf } from '#settings/forms/forms.ts'
import { entryAt, misfitsOf } from './misfits.ts'
import type { Misfit } from './misfits.ts'
import type { SettingRow } from './schema.ts'

interface Problem extends Place {
  /** Begins at the setting. */
  readonly path: YamlPath
  readonly sentence: string
}

/** Entries that are told of; a list with more faults is seldom meant as one. */
const problemsMax = 100

/** @returns a sentence for each entry that does not fit, or for the whole; none when all fits */
export function problemsOf(
  row: SettingRow,
  value: unknown,
  from: 'file' | 'outside',
): readonly Problem[] {
  const { key, leaf } = row
  const check = checkOf('setting', key, () => leaf)
  if (!check(value)) {
    const misfits = misfitsOf(value, check.errors ?? []).slice(0, problemsMax)
    return misfits.map((misfit) => ({ ...misfit, sentence: sentenceOf(row, value, misfit) }))
  }
  const isEntry = entryForms[leaf['x-kind'] ?? '']
  if (isEntry !== undefined) {
    const entries = [...(value as readonly string[]).entries()]
    const misfits = entries.filter(([, entry]) => !isEntry(entry)).slice(0, problemsMax)
    return misfits.map(([index, entry]) => {
      const fault = isEntry === isNetwork ? networkFault(entry) : undefined
      const sentence = `${key} holds ${shown(entry)}, write ${expected(leaf)}`
      const found = fault === undefined ? sentence : `${key}: ${fault}`
      return { path: [index], at: 'value', sentence: found }
    })
  }
  const whole = (sentence: string): Problem[] => [{ path: [], at: 'value', sentence }]
  if (typeof value === 'string' && !textFits(leaf, value)) return whole(misfitOfAll(row, value))
  const isUrl = leaf['x-kind'] === 'url' || leaf['x-kind'] === 'git-url'
  if (isUrl && from === 'file' && hasCredentials(String(value))) {
    return whole(`${key} holds a name or password; remove this key and set GSLB_GITOPS_URL instead`)
  }
  return []
}

function misfitOfAll({ key, leaf }: SettingRow, value: unknown): string {
  const hint = didYouMean(String(value), leaf.enum ?? [])
  const found = leaf['x-secret'] === true ? 'not of the right form' : shown(value)
  return `${key} is ${found}, write ${expected(leaf)}${hint}`
}

function sentenceOf(row: SettingRow, value: unknown, { path, fault }: Misfit): string {
  const { key, leaf } = row
  const write = `write ${expectedAt(leaf, fault.is === 'unknown key' ? path.slice(0, -1) : path)}`
  const place = (steps: YamlPath): string => [key, ...steps].join('.')
  switch (fault.is) {
    case 'unknown key': {
      const known = Object.keys(schemaAt(leaf, path.slice(0, -1)).at(-1)?.properties ?? {})
      const near = suggest(fault.key, known)
      const hint = near === undefined ? write : `did you mean "${near}"?`
      return `${place(path.slice(0, -1))} has the key ${shown(fault.key)}, ${hint}`
    }
    case 'missing key':
      return `${place(path)} lacks ${fault.key}, ${write}`
    case 'too many':
      return `${place(path)} has more than ${fault.limit} entries, ${write}`
    case 'too few':
      return `${place(path)} has less than ${fault.limit} entries, ${write}`
    case 'value':
      break
  }
  if (path.length === 0) return misfitOfAll(row, value)
  const isSecret = leaf['x-secret'] === true || secretKeys.test(place(path))
  const found = isSecret ? 'what is not of the right form' : shown(entryAt(value, path))
  const isInList = typeof path.at(-1) === 'number'
  return isInList
    ? `${place(path.slice(0, -1))} holds ${found}, ${write}`
    : `${place(path)} is ${found}, ${write}`
}

/** Nobody writes them in a file on purpose, and a message must not repeat them. */
const secretKeys = /password|secret|token/i

/** What forms of entries are described by. */
interface Form {
  readonly properties?: Readonly<Record<string, Form>>
  readonly patternProperties?: Readonly<Record<string, Form>>
  readonly items?: Form
  readonly enum?: readonly string[]
  readonly 'x-expected'?: string
}

/** The schemas on the way to an entry, from that of the setting. */
function schemaAt(leaf: SettingLeaf, path: YamlPath): readonly Form[] {
  const forms: Form[] = [leaf]
  for (const step of path) {
    const { properties, patternProperties = {}, items } = forms.at(-1)!
    const next =
      typeof step === 'number' ? items : (properties?.[step] ?? Object.values(patternProperties)[0])
    if (next === undefined) break
    forms.push(next)
  }
  return forms
}

/** Describes a correct entry: by its own form, else by the nearest one that it is in. */
function expectedAt(leaf: SettingLeaf, path: YamlPath): string {
  for (const form of schemaAt(leaf, path).slice(1).toReversed()) {
    if (form['x-expected'] !== undefined) return form['x-expected']
    if (form.enum !== undefined && leaf['x-expected'] === undefined) return choiceOf(form.enum)
  }
  return expected(leaf)
}

const choiceOf = (words: readonly string[]): string =>
  words.join(', ').replace(/, ([^,]*)$/, ' or $1')

const exampleMs = [30_000, 300_000]

/** Describes a correct value, for messages and the reference page. */
export function expected(leaf: SettingLeaf): string {
  if (leaf['x-expected'] !== undefined) return leaf['x-expected']
  if (leaf.enum !== undefined) return choiceOf(leaf.enum)
  switch (leaf['x-kind']) {
    case 'duration': {
      const [leastMs, mostMs] = [leaf['x-minimumMs'] ?? 0, leaf['x-maximumMs'] ?? 0]
      const examples = exampleMs.filter((ms) => ms >= leastMs && ms <= mostMs).map(durationText)
      const suchAs = examples.length === 0 ? '' : `, such as ${examples.join(' or ')}`
      return `a duration from ${durationText(leastMs)} to ${durationText(mostMs)}${suchAs}`
    }
    case 'address':
      return 'an IPv4 or IPv6 address'
    case 'path':
      return 'a path'
    case 'url':
      return 'an http:// or https:// address'
    case 'git-url':
      return 'an https://, http:// or ssh:// address, or git@host:path'
    case 'networks':
      return 'a list of addresses and networks, such as [192.0.2.7, 10.1.0.0/16]'
    case 'resolvers':
      return 'a list of addresses of name servers, such as [192.0.2.53, "127.0.0.1:5353"]'
    case 'names':
      return 'a list of names of zones, such as [example.com, example.net]'
    case undefined:
      break
  }
  if (leaf.type === 'boolean') return 'true or false'
  if (leaf.type === 'integer')
    return `a whole number from ${leaf.minimum ?? 0} to ${leaf.maximum ?? 0}`
  return `text of at most ${leaf.maxLength ?? 0} characters`
}

function isNetwork(text: string): boolean {
  return isIP(text) !== 0 || parseCidr(text).ok
}

/** Says what is wrong with a network that is nearly right, and what to write in its place. */
function networkFault(entry: string): string | undefined {
  if (isIP(entry.replace(/\/.*$/s, '')) === 0) return undefined
  const parsed = parseCidr(entry)
  return parsed.ok ? undefined : parsed.error
}

/** An address, alone or with a port: `192.0.2.53:5353`, `[2001:db8::53]:5353`. */
function isResolver(text: string): boolean {
  if (isIP(text) !== 0) return true
  const [, v6, v4 = '', port] = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const isAddress = v6 === undefined ? isIPv4(v4) : isIPv6(v6)
  return isAddress && Number(port) > 0 && Number(port) <= 65_535
}

const nameForm = new RegExp(namePattern)
const isName = (text: string): boolean => text.length <= nameLengthMax && nameForm.test(text)

/** Checks of the entries of a list, by the kind of the setting. */
const entryForms: Readonly<Record<string, (text: string) => boolean>> = {
  networks: isNetwork,
  resolvers: isResolver,
  names: isName,
}

function textFits(leaf: SettingLeaf, value: string): boolean {
  const kind = leaf['x-kind']
  switch (kind) {
    case 'duration': {
      const parsed = parseDuration(value)
      const { 'x-minimumMs': minimumMs = 0, 'x-maximumMs': maximumMs = Infinity } = leaf
      return parsed.ok && parsed.value >= minimumMs && parsed.value <= maximumMs
    }
    case 'address':
      return isIP(value) !== 0
    case 'path':
      return value !== '' && !value.includes('\0')
    case 'url':
      return value === '' || isHttpAddress(value)
    case 'git-url':
      return value === '' || isHttpAddress(value) || isSshUrl(value)
    case 'networks':
    case 'resolvers':
    case 'names':
    case undefined:
      return true
    default:
      return unreachable(kind)
  }
}

function isHttpAddress(value: string): boolean {
  const protocol = URL.parse(value)?.protocol
  return protocol === 'http:' || protocol === 'https:'
}

/** A user name alone counts as well, because forges accept tokens in its place. */
function hasCredentials(value: string): boolean {
  const url = URL.parse(value)
  // The user of an address of SSH is no secret; it cannot have a password.
  return url !== null && url.protocol !== 'ssh:' && (url.username !== '' || url.password !== '')
}

function shown(value: unknown): string {
  if (typeof value === 'string') {
    // A refused address may hold a password: never show it back.
    if (value.includes('@') && value.includes('://'))
      return 'an address that this version cannot use'
    return value.length > 60 ? `"${value.slice(0, 60)}…"` : `"${value}"`
  }
  if (Array.isArray(value)) return 'a list'
  if (value === null) return 'empty'
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`
  return 'a mapping'
}
