// Gives certificates to nodes that ask a control node: in an envelope for each, and a new
// certificate to one node after the other.
import { hash } from 'node:crypto'
import type { Bundles } from '#ports/bundles.ts'
import type { SigningKey } from '#bundle/signature/channel.ts'
import { sealEnvelope } from '#fleet/keys/envelope.ts'
import type { NodeInventory } from '#fleet/node-inventory.ts'
import { readNodeReport } from '#fleet/nodes/node-report.ts'
import { certificatesIn, printState, seenFrom } from '#integrations/acme/acme-state.ts'
import type { AcmeState, IssuedCertificate } from '#integrations/acme/acme-state.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Settings } from '#settings/settings.ts'
import { partFor, revisionOf, sentRevisionOf } from './pulled-certificate.ts'

interface GivingParts {
  /** null: the settings ask for no certificate. */
  readonly vault: { readonly state: AcmeState } | null
  readonly inventory: Pick<NodeInventory, 'counted' | 'isListed'>
  /** `acme.certificates` of the settings. What they do not name any more is given to nobody. */
  readonly entries: Settings['acme']['certificates']
  readonly key: SigningKey
  readonly clock: Pick<Clock, 'nowMs'>
}

export const rollOutLimits = {
  /** From the first node to the last; this node itself precedes them. */
  spreadMs: 600_000,
  /** After its turn a node asks every 10 s, and reports its certificate every 30 s. */
  patienceMs: 300_000,
  /** At most this part of the certificate's time. */
  share: 1 / 100,
} as const

export function givingCertificate(parts: GivingParts): Bundles['certificate'] {
  const { vault, inventory, entries, key, clock } = parts
  return ({ report: sent, revision: known }) => {
    const report = readNodeReport(sent)
    if (!report.ok) return err({ code: 'refused', message: report.error })
    const { name, sealTo, role, acme = [''] } = report.value
    if (sealTo === undefined) return err({ code: 'refused', message: 'sealTo is missing' })
    if (vault === null) return err({ code: 'none', message: noAcme })
    if (role !== 'dns' || inventory.counted(report.value, sent) === undefined) {
      return err({ code: 'stranger', message: stranger })
    }
    const named = acme.filter((entry) => entry === '' || Object.hasOwn(entries, entry))
    const isListed = inventory.isListed(report.value, sent)
    const closed = named.filter((entry) => {
      const { nodes } = entries[entry] ?? {}
      return nodes !== undefined && !(isListed && nodes.includes(name))
    })
    const own = named.filter((entry) => !closed.includes(entry))
    const part = partFor(vault.state, own)
    const revision = sentRevisionOf(part)
    // A challenge cannot wait.
    const mayWait = known !== 0 && part.challenges.length === 0
    if (revision === known || (mayWait && mustWait(vault.state, own, name, clock.nowMs()))) {
      const [first] = closed
      // Not before it has the others, and proofs of names.
      if (first === undefined) return ok(null)
      const why = isListed ? ofOthers : unlisted
      return err({ code: 'stranger', message: why(first, name) })
    }
    const content = Buffer.from(printState(part))
    const to = { node: name, sealTo }
    const envelope = sealEnvelope({ revision, content }, to, key, 'certificate')
    return envelope === undefined
      ? err({ code: 'refused', message: 'sealTo is no public key of X25519' })
      : ok(envelope)
  }
}

/** Whether another certificate of the node is new, and none is needed at once. */
function mustWait(
  state: AcmeState,
  entries: readonly string[],
  node: string,
  nowMs: number,
): boolean {
  const fresh = entries.filter((entry) => {
    const { certificate } = seenFrom(state, entry)
    return certificate !== null && nowMs < turnAtMs(certificate, node, nowMs)
  })
  const isUrgent = (entry: string): boolean => {
    const { beforeEndsMs } = seenFrom(state, entry)
    // That of `acme.names` may be the first of a new database.
    if (beforeEndsMs === null) return entry !== ''
    return nowMs >= beforeEndsMs - rollOutLimits.spreadMs
  }
  return fresh.length > 0 && !fresh.some(isUrgent)
}

/**
 * When a node gets a new certificate instead of its old one. Mistakes show at the first nodes.
 * A clock that went back delays nothing.
 */
export function turnAtMs(
  { issuedAtMs, notBeforeMs, notAfterMs }: IssuedCertificate,
  node: string,
  nowMs: number,
): number {
  if (nowMs < issuedAtMs) return nowMs
  const { spreadMs, share } = rollOutLimits
  const spread = Math.min(spreadMs, (notAfterMs - notBeforeMs) * share)
  assert(spread >= 0, 'a certificate ends after it begins')
  const draw = Number.parseInt(hash('sha256', `${node} ${issuedAtMs}`).slice(0, 8), 16)
  return issuedAtMs + (draw / 0xffff_ffff) * spread
}

/** Names of counted nodes without the newest certificate, long after their turn. */
export function behindOf(
  vault: GivingParts['vault'],
  inventory: Pick<NodeInventory, 'all'>,
  clock: Pick<Clock, 'nowMs'>,
): readonly string[] {
  if (vault === null) return []
  const { spreadMs, patienceMs } = rollOutLimits
  const longAgoMs = clock.nowMs() - spreadMs - patienceMs
  return inventory.all().flatMap(({ report, isCounted, isMissing }) => {
    const { name, certificate, acme = [''] } = report
    const part = partFor(vault.state, acme)
    const newest = revisionOf(part)
    const isAsked = certificate !== undefined && newest !== 0 && isCounted && !isMissing
    if (!isAsked || certificate === newest) return []
    // It may have one that a new database does not have yet: then no two numbers are equal.
    if (acme.some((entry) => seenFrom(vault.state, entry).certificate === null)) return []
    const issued = [...certificatesIn(part).values()].map((one) => one.certificate?.issuedAtMs ?? 0)
    return Math.max(...issued) > longAgoMs ? [] : [name]
  })
}

const unlisted = (entry: string, node: string): string =>
  `acme.certificates.${entry} has nodes, and ${node} is not listed, so that its name may be ` +
  `another's: "gslbd node add ${node}" makes its GSLB_NODE_TOKEN`
const ofOthers = (entry: string, node: string): string =>
  `acme.certificates.${entry}.nodes does not name ${node}: add it on all control nodes, or have ` +
  'no listener of the node use that entry'
const noAcme = 'this node gets no certificate: acme.names and acme.certificates are empty'
const stranger =
  'the certificate is for nodes of the role dns that count here; where nodes are listed, ' +
  '"gslbd node add NAME" makes the GSLB_NODE_TOKEN of one'
