// Parses the lifetimes of a zone's keys.
import { signingAlgorithms } from '#dns/dnssec/algorithms.ts'
import { readPublicKey } from '#dns/dnssec/key-files.ts'
import type { RollPolicy } from '#dns/dnssec/rollover.ts'
import type { Dnssec } from '#schemas/objects/zone.ts'

/** RFC 8624 section 3.1: every validator must support P-256. */
export const defaultAlgorithm = 'ecdsap256sha256'

const unitMs: Readonly<Record<string, number>> = {
  y: 365 * 86_400_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
}

/** @returns rdata of the DNSKEY records of other signers; undefined: they are not listed */
export function listedKeys({ dnskeys }: Pick<Dnssec, 'dnskeys'>): Uint8Array[] | undefined {
  return dnskeys?.flatMap((text) => {
    const read = readListed(text)
    return read.ok ? [read.value.rdata] : []
  })
}

/** Errors: a sentence without its full stop. */
export function readListed(text: string): ReturnType<typeof readPublicKey> {
  return readPublicKey(`. DNSKEY ${text}`)
}

/** @returns null: never */
export function lifeMs(text: string): number | null {
  if (text === 'never') return null
  // The schema checks the form; '0' has no unit.
  return Number.parseInt(text, 10) * (unitMs[text.at(-1)!] ?? 0)
}

export function rollPolicy({ algorithm, model, policy }: Omit<Dnssec, 'enabled'>): RollPolicy {
  const numberOf = (name: string): number =>
    signingAlgorithms.find((one) => one.name === name)!.number
  const waitMs = (text: string): number => lifeMs(text) ?? 0
  return {
    model: model ?? null,
    algorithm: algorithm === undefined ? null : numberOf(algorithm),
    defaultAlgorithm: numberOf(defaultAlgorithm),
    kskMs: lifeMs(policy?.ksk ?? 'never'),
    zskMs: lifeMs(policy?.zsk ?? '90d'),
    propagationMs: waitMs(policy?.propagation ?? '1h'),
    parentMs: waitMs(policy?.parentDsTtl ?? '1d') + waitMs(policy?.parentPropagation ?? '1h'),
  }
}
