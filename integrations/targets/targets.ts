// Checks what sources say of members: addresses, weights and labels.
import type { DiscoveredFrom } from '#bundle/discovered/from.ts'
import { canonical, isLocal, whyNoTarget } from '#inputs/resolve/usable-addresses.ts'
import type { Fields } from '#lib/text/json.ts'
import type { Labels, RawTarget } from './kind.ts'
import { discoveryLimits } from './limits.ts'

export interface Target {
  /** In the form of RFC 5952. */
  readonly address: string
  readonly port: number
  readonly weight: number
  readonly labels: Labels
}

export interface CheckedTargets {
  readonly targets: readonly Target[]
  /** How many were left out: their weight is 0, or something is wrong with them. */
  readonly leftOut: number
  /** What is wrong with the first that is wrong; empty: nothing. */
  readonly fault: string
}

/** Splits `192.0.2.1:80`, `[2001:db8::1]:80`, and an address alone, whose port is 0. */
export function hostAndPort(text: string): { readonly address: string; readonly port: number } {
  const found = /^\[([0-9a-f:.]+)\](?::(\d{1,5}))?$/i.exec(text) ?? /^([^:]+):(\d{1,5})$/.exec(text)
  if (found === null) return { address: text, port: 0 }
  return { address: found[1]!, port: Number(found[2] ?? 0) }
}

/** Texts, numbers and truth values; the rest is passed over. */
export function labelsOf(fields: Fields): Labels {
  const { labelsMax, labelLengthMax } = discoveryLimits
  const labels = new Map<string, readonly string[]>()
  for (const [name, value] of Object.entries(fields)) {
    if (labels.size === labelsMax) break
    if (!['string', 'number', 'boolean'].includes(typeof value)) continue
    const text = String(value).slice(0, labelLengthMax).toLowerCase()
    labels.set(name.slice(0, labelLengthMax).toLowerCase(), [text])
  }
  return labels
}

/** @param allowLocal as `dns.allowLocalTargets` */
export function checkTargets(
  raw: readonly RawTarget[],
  weightLabel: string,
  allowLocal: boolean,
): CheckedTargets {
  const targets: Target[] = []
  let fault = ''
  for (const one of raw) {
    const address = canonical(one.address)
    const why = whyNoTarget(address)
    const weight = weightOf(one.labels.get(weightLabel)?.[0])
    if (why !== undefined && !(allowLocal && isLocal(why))) {
      const shown = one.address.slice(0, 64)
      const remedy = isLocal(why) ? '; give it another, or set dns.allowLocalTargets' : ''
      fault ||= `${JSON.stringify(shown)} is ${why}${remedy}`
    } else if (!Number.isInteger(one.port) || one.port < 0 || one.port > 65_535) {
      fault ||= `${one.address} has the port ${one.port}`
    } else if (weight === undefined) {
      fault ||= `${one.address} has a ${weightLabel} that is no number from 0 to 65535`
    } else if (weight > 0) targets.push({ address, port: one.port, weight, labels: one.labels })
  }
  return { targets, leftOut: raw.length - targets.length, fault }
}

/** undefined: it is no weight. Without a label it is 1. */
function weightOf(label: string | undefined): number | undefined {
  if (label === undefined || label === '') return 1
  if (!/^\d{1,5}$/.test(label)) return undefined
  const weight = Number(label)
  return weight > discoveryLimits.weightMax ? undefined : weight
}

export function hasLabels({ labels }: Target, wanted: DiscoveredFrom['labels']): boolean {
  for (const [name, value] of wanted) if (labels.get(name)?.includes(value) !== true) return false
  return true
}
