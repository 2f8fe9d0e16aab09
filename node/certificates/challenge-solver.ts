// Proves names to an ACME server by TXT records of this installation: writes them as the API does,
// without DNS updates, and waits until all nodes answer them.
import type { Bundle } from '#bundle/format/bundle.ts'
import { foldName, parseName } from '#dns/name.ts'
import type { NodeInventory } from '#fleet/node-inventory.ts'
import type { ChallengeSolver, Proof } from '#integrations/acme/order-certificate.ts'
import type { HttpChallenge } from '#integrations/acme/acme-state.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import type { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import { hiddenBy, isInZone } from '#zones/dynamic/hidden-names.ts'
import { writtenTypes } from '#state/ports/dynamic-dns.ts'

export interface ChallengeSolverParts {
  readonly dynamicDns: Pick<DynamicDns, 'createRecord' | 'deleteRecord' | 'listRecords'>
  readonly bundle: () => Bundle | undefined
  readonly inventory: Pick<NodeInventory, 'all' | 'refresh'>
  /** Digest of the TXT records that nodes of the role dns get; null: there are no records. */
  readonly textsDigest: () => string | null
  /** After all nodes have a record. */
  readonly propagationMs: number
  /** null: no listener answers HTTP challenges. */
  readonly http: HttpChallenges | null
  readonly clock: Clock
  /** Errors: rejects when the signal aborts. */
  readonly wait: (delayMs: number, signal: AbortSignal) => Promise<void>
  readonly log: Log
}

export interface HttpChallenges {
  /** Resolves when the challenges are stored, and answered here. Errors: a sentence. */
  readonly publish: (challenges: readonly HttpChallenge[]) => Promise<Result<null, string>>
  /** Until the listeners of all nodes answer them. */
  readonly spreadMs: number
}

const solverLimits = {
  /** Changes are published together; by then those of this order are. */
  publishedMs: 1_500,
  /** A node reports its records with each request for bundles, at least every half minute. */
  patienceMs: 90_000,
  everyMs: 500,
  ttlSeconds: 60,
} as const

/** The writer of a record, as lists of TXT records show it. */
const writtenBy = 'acme'

export function createChallengeSolver(parts: ChallengeSolverParts): ChallengeSolver {
  const { dynamicDns, bundle, http, log } = parts
  const written: string[] = []
  /** Records that could not be removed. */
  let left = 0
  return {
    typeFor: (name, isWildcard) => {
      const fault = faultAt(`_acme-challenge.${name}.`, bundle())
      if (fault === undefined) return ok('dns-01')
      return http !== null && !isWildcard ? ok('http-01') : err(fault)
    },
    publish: async (proofs, signal) => {
      await removeLeft(parts)
      const byHttp = await publishByHttp(parts, proofs, signal)
      if (!byHttp.ok) return byHttp
      const byDns = proofs.filter(({ type }) => type === 'dns-01')
      for (const proof of byDns) {
        const stored = await writeProof(parts, proof)
        if (!stored.ok) return stored
        written.push(stored.value)
      }
      if (byDns.length === 0) return ok(null)
      await waitForNodes(parts, signal)
      await parts.wait(parts.propagationMs, signal)
      return ok(null)
    },
    withdraw: async () => {
      const isAgain = written.length > 0 && written.length === left
      for (const id of written.splice(0)) {
        const deleted = await dynamicDns.deleteRecord('every-tenant', id)
        if (!deleted.ok) written.push(id)
      }
      left = written.length
      if (left > 0 && !isAgain) {
        log.warn({ records: left }, 'proofs for acme cannot be taken away yet; tried again')
      }
    },
  }
}

async function publishByHttp(
  { http, wait }: ChallengeSolverParts,
  proofs: readonly Proof[],
  signal: AbortSignal,
): Promise<Result<null, string>> {
  const found = proofs.filter(({ type }) => type === 'http-01')
  if (found.length === 0) return ok(null)
  assert(http !== null, 'a proof by HTTP is of listeners that answer it')
  const challenges = found.map(({ name, token, value }) => ({ host: name, token, answer: value }))
  const published = await http.publish(challenges)
  if (published.ok) await wait(http.spreadMs, signal)
  return published
}

/** @returns a sentence why a TXT record there would not be answered */
function faultAt(text: string, bundle: Bundle | undefined): string | undefined {
  const name = parseName(text)
  if (!name.ok) return `${text} is no name`
  if (bundle === undefined) return 'this node has no configuration yet'
  const folded = foldName(name.value)
  if (!isInZone(bundle, folded)) {
    return `${text} is in no zone that is answered here, so that it cannot be proven by a record`
  }
  const hidden = hiddenBy(bundle, folded)
  if (hidden === undefined) return undefined
  return `nobody would get a TXT record at ${text}: ${hiddenReasons[hidden]}`
}

const hiddenReasons = {
  alias:
    'the configuration has an alias there (a CNAME, perhaps of another tenant); take it away: in ' +
    'the repository, git grep _acme-challenge finds its file',
  declared: 'the configuration says what is there',
  delegation: 'it is delegated to other name servers',
  dname: 'it is below a DNAME',
} as const

async function writeProof(
  { dynamicDns, clock }: ChallengeSolverParts,
  { name, value }: Proof,
): Promise<Result<string, string>> {
  const nowMs = Math.floor(clock.nowMs())
  const id = uuidV7(nowMs)
  const octets = Buffer.from(value, 'latin1')
  const stored = await dynamicDns.createRecord({
    ...{ id, tenantId: defaultTenant, name: `_acme-challenge.${name}.` },
    type: writtenTypes.TXT,
    rdata: Buffer.concat([Buffer.of(octets.length), octets]).toString('base64'),
    ...{ ttlSeconds: solverLimits.ttlSeconds, createdAtMs: nowMs, writtenBy },
  })
  if (stored.ok || stored.error.code === 'record-exists') return ok(id)
  return err(`the TXT record of ${name} cannot be stored: ${stored.error.message}`)
}

/** Removes records of a killed order: only one order runs at a time. */
async function removeLeft({ dynamicDns }: ChallengeSolverParts): Promise<void> {
  const records = await dynamicDns.listRecords('every-tenant')
  if (!records.ok) return
  for (const record of records.value) {
    if (record.writtenBy !== writtenBy) continue
    await dynamicDns.deleteRecord('every-tenant', record.id)
  }
}

/** Names a node that stays behind, and goes on: the certificate may end meanwhile. */
async function waitForNodes(parts: ChallengeSolverParts, signal: AbortSignal): Promise<void> {
  const { clock, wait, log, inventory, textsDigest } = parts
  const { publishedMs, patienceMs, everyMs } = solverLimits
  if (textsDigest() === null) return
  await wait(publishedMs, signal)
  const untilMs = clock.monotonicMs() + patienceMs
  const newest = new Set<string>()
  for (;;) {
    newest.add(textsDigest() ?? '')
    await inventory.refresh()
    const behind = nodesBehind(inventory, newest)
    if (behind.length === 0) return
    if (clock.monotonicMs() > untilMs) {
      return log.warn({ nodes: behind.slice(0, 10) }, 'nodes do not answer a proof for acme yet')
    }
    await wait(everyMs, signal)
  }
}

/** Nodes of older versions do not report their records. */
function nodesBehind(
  inventory: Pick<NodeInventory, 'all'>,
  newest: ReadonlySet<string>,
): readonly string[] {
  return inventory.all().flatMap(({ report, isCounted, isMissing }) => {
    const { role, texts, name } = report
    const isAsked = role === 'dns' && isCounted && !isMissing && texts !== undefined
    return isAsked && !newest.has(texts) ? [name] : []
  })
}
