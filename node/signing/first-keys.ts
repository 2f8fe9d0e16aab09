// Plans the first keys of a zone on a control node: what its configuration says, and none where
// others sign it already.
import type { ConfigView } from '#config/view.ts'
import { assert } from '#lib/assert.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { noLongerThan, systemAfter } from '#lib/timer.ts'
import type { FirstKeys, NoFirstKeys } from '#server/signing/key-source.ts'
import { delegationLimits } from '#zones/delegation/limits.ts'
import { signedZonesOf } from '#config/signed-zones.ts'

export interface FirstKeysParts {
  readonly config: Pick<ConfigView, 'isReady' | 'snapshot'>
  /** See `NodeDomains`. */
  readonly dsAtParent: (zone: string) => Promise<readonly string[] | null>
  /** Names of nodes that have newer keys than the database. */
  readonly nodesAhead: () => readonly string[]
  /** Zones that nodes of the role dns may have signed by key files before this process. */
  readonly signedBefore: () => ReadonlySet<string>
  readonly patienceMs?: number
  readonly parentMs?: number
}

/** For the configuration, which comes after its bundle. */
const patienceMs = 10_000
const againMs = 100
/** A check of a delegation takes `checkMs` at most: an answer that is late counts, too. */
const parentMs = delegationLimits.checkMs + 8_000

/** @returns what `KeyVault` asks for; errors: with a sentence that says what to do */
export function planningFirstKeys(
  parts: FirstKeysParts,
): (zone: string) => Promise<Result<FirstKeys, NoFirstKeys>> {
  const { dsAtParent, nodesAhead, signedBefore } = parts
  const patience = parts.patienceMs ?? patienceMs
  return async (zone) => {
    assert(zone.endsWith('.'), 'first keys are of a zone with its whole name')
    if (signedBefore().has(zone)) return err(forLong(signedElsewhere(zone)))
    const isSplit = await isToBeSplit(zone, parts.config, patience)
    // A CSK by guess would roll to a KSK and a ZSK, which takes days and the parent.
    if (isSplit === null) return err({ reason: notYetKnown(zone), isSoonOver: true })
    const parent: { ds: readonly string[] | null } = { ds: null }
    const asked = dsAtParent(zone).then((found) => {
      parent.ds = found
    })
    await noLongerThan(parts.parentMs ?? parentMs, asked)
    const { ds } = parent
    if (ds !== null && ds.length > 0) return err(forLong(signedByOthers(zone, ds)))
    const ahead = ds === null ? nodesAhead() : []
    if (ahead.length > 0) return err(forLong(knownToNodes(zone, ahead)))
    return ok({ isSplit })
  }
}

const forLong = (reason: string): NoFirstKeys => ({ reason, isSoonOver: false })

/** @returns null: the configuration is not here, or does not sign the zone yet */
async function isToBeSplit(
  zone: string,
  config: FirstKeysParts['config'],
  patience: number,
): Promise<boolean | null> {
  for (let waitedMs = 0; waitedMs < patience; waitedMs += againMs) {
    const found = signedZonesOf(config).find(({ name }) => name === zone)
    if (found !== undefined) return found.dnssec.model === 'kskzsk'
    await new Promise<void>((resolve) => void systemAfter(againMs, resolve))
  }
  return null
}

const notYetKnown = (zone: string): string =>
  `${zone} has no key yet: whether it begins with one or two is in its configuration, which this ` +
  'node has not read since its start ("gslbd status" says why); the key comes by itself then'

const signedElsewhere = (zone: string): string =>
  `${zone} was signed before this start, and the database has no key of it: nodes of the role ` +
  'dns may have it as files. Bring these into the folder dnssec of the data directory of this ' +
  `node, or, where no node has any, make one there ("gslbd dnssec keygen ${zone}"); then start ` +
  'this node again'

const nodesShown = 5

const knownToNodes = (zone: string, nodes: readonly string[]): string =>
  `no server of the parent of ${zone} answers, and nodes have newer keys than the database, ` +
  `which may lack that of ${zone}: ${nodes.slice(0, nodesShown).join(', ')}. Bring the right ` +
  'database back, or let this node ask the parent (dns.resolvers); to sign with another key all ' +
  `the same, "gslbd dnssec keygen ${zone}"; then start this node again`

const signedByOthers = (zone: string, ds: readonly string[]): string =>
  `the parent of ${zone} has the DS record "${ds[0]}", and the database has no key of it: ` +
  'another key would break that chain. Bring the database back that has it, or bring the keys ' +
  `here ("gslbd dnssec import"); to sign with another one all the same, "gslbd dnssec keygen ` +
  `${zone}"; then start this node again`
