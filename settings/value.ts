// Checks one value against one setting; the error says what to write instead.
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { unreachable } from '#lib/assert.ts'
import { isSshUrl } from '#gitops/source/remote-url.ts'
import { parseDuration } from '#lib/duration.ts'
import { parseCidr } from '#routing/tables/cidr.ts'
import { checkOf } from '#schemas/checks.ts'
import { suggest } from '#lib/suggest.ts'
import { nameLengthMax, namePattern } from '#settings/forms/forms.ts'
import type { SettingLeaf, SettingValue } from '#settings/forms/forms.ts'
import type { SettingRow } from './schema.ts'

/** @returns a sentence about `value`, or undefined when it fits. */
export function problemOf(
  row: SettingRow,
  value: unknown,
  from: 'file' | 'outside',
): string | undefined {
  const check = checkOf('setting', row.key, () => row.leaf)
  const fits = check(value) && kindFits(row.leaf, value as SettingValue)
  const isEntry = entryForms[row.leaf['x-kind'] ?? '']
  if (!fits && isEntry !== undefined && Array.isArray(value)) {
    const misfit: unknown = value.find((entry) => !isEntry(String(entry)))
    const fault = isEntry === isNetwork ? networkFault(misfit) : undefined
    if (fault !== undefined) return `${row.key}: ${fault}`
    const what = misfit === undefined ? 'too many entries' : shown(misfit)
    return `${row.key} holds ${what}, write ${expected(row.leaf)}`
  }
  const part = fits ? undefined : misfitIn(value, check)
  if (part !== undefined) {
    return `${row.key}.${part.path} is ${shown(part.value)}, write ${expected(row.leaf)}`
  }
  if (!fits) {
    const near = row.leaf.enum === undefined ? undefined : suggest(String(value), row.leaf.enum)
    const hint = near === undefined ? '' : `; did you mean "${near}"?`
    const found = row.leaf['x-secret'] === true ? 'not of the right form' : shown(value)
    return `${row.key} is ${found}, write ${expected(row.leaf)}${hint}`
  }
  const isUrl = row.leaf['x-kind'] === 'url' || row.leaf['x-kind'] === 'git-url'
  if (isUrl && from === 'file' && hasCredentials(String(value))) {
    return `${row.key} holds a name or password; remove this key and set GSLB_GITOPS_URL instead`
  }
  return undefined
}

/** The first entry of a mapping of mappings that does not fit, or the key in it that does not. */
function misfitIn(
  value: unknown,
  check: (value: unknown) => boolean,
): { readonly path: string; readonly value: unknown } | undefined {
  if (!isMapping(value)) return undefined
  for (const [name, part] of Object.entries(value)) {
    if (check({ [name]: part })) continue
    if (!isMapping(part) || !check({ [name]: {} })) return { path: name, value: part }
    for (const [key, inner] of Object.entries(part)) {
      if (!check({ [name]: { [key]: inner } })) return { path: `${name}.${key}`, value: inner }
    }
    return { path: name, value: part }
  }
  return undefined
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Describes a correct value, for messages and the reference page. */
export function expected(leaf: SettingLeaf): string {
  if (leaf['x-expected'] !== undefined) return leaf['x-expected']
  if (leaf.enum !== undefined) return leaf.enum.join(', ').replace(/, ([^,]*)$/, ' or $1')
  switch (leaf['x-kind']) {
    case 'duration': {
      const [least, most] = [
        durationText(leaf['x-minimumMs'] ?? 0),
        durationText(leaf['x-maximumMs'] ?? 0),
      ]
      return `a duration from ${least} to ${most}, such as 30s or 5m`
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

function kindFits(leaf: SettingLeaf, value: SettingValue): boolean {
  const isEntry = entryForms[leaf['x-kind'] ?? '']
  if (isEntry !== undefined) return (value as readonly string[]).every(isEntry)
  return typeof value !== 'string' || textFits(leaf, value)
}

function isNetwork(text: string): boolean {
  return isIP(text) !== 0 || parseCidr(text).ok
}

/** Says what is wrong with a network that is nearly right, and what to write in its place. */
function networkFault(entry: unknown): string | undefined {
  if (typeof entry !== 'string' || isIP(entry.replace(/\/.*$/s, '')) === 0) return undefined
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

function durationText(ms: number): string {
  for (const [unitMs, unit] of [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'm'],
    [1_000, 's'],
  ] as const) {
    if (ms >= unitMs && ms % unitMs === 0) return `${ms / unitMs}${unit}`
  }
  return `${ms}ms`
}
