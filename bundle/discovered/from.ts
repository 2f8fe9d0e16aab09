// Members whose addresses are discovered: what a bundle has of them, in place of a host name.
import { nameLimits } from '#dns/name.ts'
import { discoveredTextPattern } from '#lib/text/patterns.ts'

/**
 * What such a member asks: a source of the settings, which of its services, and labels that a
 * target must have, as in `consul/shop?region=eu`.
 */
export interface DiscoveredFrom {
  readonly source: string
  /** Empty: the source has no names, or the one of the settings. */
  readonly service: string
  /** Labels that must be there with these values, in lower case. */
  readonly labels: ReadonlyMap<string, string>
}

/**
 * The host name of such a member in models, in states and for people: this, then the text of its
 * file. No host name has a colon.
 */
export const discoveredPrefix = 'from:'

/** Last label of the name that stands for it in a bundle, in octets. No host name ends so. */
const mark = Buffer.from(discoveredPrefix)

export const discoveredLimits = {
  /** With the mark and the lengths of labels, within the 255 octets of a name. */
  textLengthMax: 200,
  /** Slots of one member and family; a multiple of `slotsPerHostname`. */
  slots: 64,
} as const

const pattern = new RegExp(discoveredTextPattern)

export function isDiscoveredName(hostname: string): boolean {
  return hostname.startsWith(discoveredPrefix)
}

/**
 * What a node looks up for a member: its host name in the bundle. What is discovered has the tenant
 * of the pool with it, `from:TENANT:SOURCE`, since a source may not be for all of them.
 */
export function nameForTenant(hostname: string, tenant: string): string {
  if (!isDiscoveredName(hostname)) return hostname
  return `${discoveredPrefix}${tenant}:${hostname.slice(discoveredPrefix.length)}`
}

/** The reverse of `nameForTenant`, for a name that is discovered. */
export function partsForTenant(name: string): { readonly tenant: string; readonly text: string } {
  const [tenant = '', ...rest] = name.slice(discoveredPrefix.length).split(':')
  return { tenant, text: rest.join(':') }
}

/** undefined: it is written in another form. */
export function parseDiscovered(text: string): DiscoveredFrom | undefined {
  if (text === '' || text.length > discoveredLimits.textLengthMax || !pattern.test(text)) {
    return undefined
  }
  const [what = '', query = ''] = text.split('?')
  const slash = what.indexOf('/')
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('='))
  return {
    source: slash < 0 ? what : what.slice(0, slash),
    service: slash < 0 ? '' : what.slice(slash + 1),
    labels: new Map(pairs.map(([label = '', value = '']) => [label, value])),
  }
}

/**
 * @param hostname with its prefix
 * @returns a name in wire form: the text in labels, the mark
 */
export function discoveredWire(hostname: string): Uint8Array {
  const text = Buffer.from(hostname.slice(discoveredPrefix.length))
  const parts: Uint8Array[] = []
  for (let at = 0; at < text.length; at += nameLimits.labelBytesMax) {
    parts.push(text.subarray(at, at + nameLimits.labelBytesMax))
  }
  const labels = [...parts, mark].flatMap((part) => [part.length, ...part])
  return Uint8Array.from([...labels, 0])
}

/** @param at of the length of a name, which the name follows */
export function isDiscoveredAt(octets: Uint8Array, at: number): boolean {
  const end = at + octets[at]!
  if (octets[end - mark.length - 1] !== mark.length) return false
  for (let i = 0; i < mark.length; i++) {
    if (octets[end - mark.length + i] !== mark[i]) return false
  }
  return true
}

/**
 * @param at where a name begins
 * @returns with its prefix; undefined: it is a host name
 */
export function discoveredText(octets: Uint8Array, at: number): string | undefined {
  const labels: Uint8Array[] = []
  for (let length = octets[at]!; length > 0; at += length + 1, length = octets[at]!) {
    labels.push(octets.subarray(at + 1, at + 1 + length))
  }
  if (labels.length < 2 || Buffer.compare(labels.pop()!, mark) !== 0) return undefined
  return discoveredPrefix + Buffer.concat(labels).toString('latin1')
}
