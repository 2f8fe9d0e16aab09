// Composes the checks of delegated domains: the resolver, the expected records, the store of
// results.
import { randomInt } from 'node:crypto'
import type { DomainChecks } from '#ports/domain-checks.ts'
import { domainKey, nameserversOf } from '#config/delegation.ts'
import { delegatedName } from '#config/record-rights.ts'
import type { ConfigView } from '#config/view.ts'
import type { ParentDs } from '#compiler/lower/name-outline.ts'
import { DomainVerifier } from '#jobs/domain-verifier.ts'
import { Parents } from '#jobs/domain-parents.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { Random } from '#lib/random.ts'
import { createResolverFinder } from '#zones/delegation/by-resolver.ts'
import { checkDelegation } from '#zones/delegation/check.ts'
import { RootWalk } from '#zones/delegation/from-root.ts'
import { delegationLimits } from '#zones/delegation/limits.ts'
import { Questions } from '#zones/delegation/questions.ts'
import { rootHints } from '#zones/delegation/root-hints.ts'
import type { ServerName } from '#zones/delegation/root-hints.ts'
import type { ParentView } from '#dns/dnssec/rollover.ts'
import { domainSilences } from '#state/ports/domains.ts'
import type { DomainResult, Domains, OwnedDomain } from '#state/ports/domains.ts'
import type { KeptView } from '#server/signing/stored-looks.ts'
import { signedZonesOf } from '#config/signed-zones.ts'
import type { Settings } from '#settings/settings.ts'

interface NodeDomainsParts {
  readonly settings: Pick<Settings, 'domains'> & {
    readonly dns: Pick<Settings['dns'], 'resolvers' | 'allowLocalTargets'>
  }
  readonly store: Domains
  readonly config: Pick<ConfigView, 'isReady' | 'snapshot'>
  /** DS records that the zone should have; see `ZoneKeys`. */
  readonly dsOf: (zone: string) => readonly string[] | undefined
  /** See `KeyKeeper`. */
  readonly rolled: () => readonly Pick<KeptView, 'zone' | 'parent'>[]
  /** Last argument of `onParents` in a previous process. */
  readonly parentsBefore: ParentDs
  /** Told of DS records that parents were seen to have. */
  readonly onParents: (seen: ParentDs) => void
  readonly clock: Clock
  readonly log: Log
  /** Servers of the root zone; tests pass others. */
  readonly hints?: readonly ServerName[]
  /** Port of all name servers; tests pass another. */
  readonly port?: number
}

export interface NodeDomains extends DomainChecks {
  /** Checks the domains that are due. */
  readonly look: () => Promise<void>
  /** By zone, for each signed one whose parent has DS records of other keys alone: a sentence. */
  readonly dsFaults: () => ReadonlyMap<string, string>
  /** Returns the current DS records of a zone's parent; null: not all of its servers answered. */
  readonly parentOf: (zone: string) => Promise<ParentView | null>
  /** Returns what any server of the parent has; null: none of them says anything of DS records. */
  readonly dsAtParent: (zone: string) => Promise<readonly string[] | null>
}

const dnsPort = 53

/** A control node that does not answer may lack the keys: then no DS is expected. */
function dsWanted(ds: ReturnType<NodeDomainsParts['dsOf']>): readonly string[] | null {
  if (ds === undefined) return []
  return ds.length === 0 ? null : ds
}

export function createNodeDomains(parts: NodeDomainsParts): NodeDomains {
  const { settings, store, config, clock, log, hints = rootHints, port = dnsPort } = parts
  const { resolvers, allowLocalTargets: allowLocal } = settings.dns
  const { allowPrivate } = settings.domains
  const walk = new RootWalk({ hints, clock })
  const { askMs } = delegationLimits
  const check = async (claimed: string): Promise<DomainResult> => {
    const snapshot = config.isReady() ? config.snapshot() : undefined
    const domain = snapshot === undefined ? claimed : delegatedName(snapshot, claimed)
    const nameservers = snapshot === undefined ? [] : nameserversOf(snapshot, domain)
    const own = nameservers.flatMap(({ addresses }) => addresses)
    const questions = new Questions({ port, allowLocal, allowPrivate, own, askMs, clock })
    const finder =
      resolvers.length > 0 ? createResolverFinder(resolvers, hints) : walk.finder(questions)
    const wanted = { domain, nameservers, ds: dsWanted(parts.dsOf(domain)) }
    const result = await checkDelegation(wanted, { finder, questions, nowMs: clock.nowMs })
    return { ...result, domain: claimed }
  }
  const domains = (): OwnedDomain[] =>
    (config.isReady() ? config.snapshot().list('DelegatedDomain') : []).flatMap(
      ({ uid, tenant, object: { spec } }) => {
        const domain = domainKey(spec.domain)
        return domain === undefined ? [] : [{ uid, tenant, domain }]
      },
    )
  const verifier = new DomainVerifier({
    ...{ store, domains, check, clock, log },
    intervalMs: settings.domains.verifyIntervalMs,
    random: new Random(randomInt(0x1_0000_0000)),
  })
  const parents = new Parents({
    ...{
      before: parts.parentsBefore,
      signed: () => new Set(signedZonesOf(config).map(({ name }) => name)),
    },
    ...{ store, dsOf: parts.dsOf, rolled: parts.rolled, onParents: parts.onParents },
    zoneOf: (domain) => (config.isReady() ? delegatedName(config.snapshot(), domain) : domain),
  })
  return {
    results: store.results,
    forget: store.forget,
    verify: (domain) => verifier.verify(domain),
    async look() {
      await verifier.look()
      if (config.isReady()) await parents.look(domains())
    },
    dsFaults: () => parents.faults,
    parentOf: async (zone) => parentViewOf(await check(zone)),
    dsAtParent: async (zone) => dsSaid(await check(zone)),
  }
}

/** What one says is true, whatever others are silent. */
function dsSaid({ checks }: DomainResult): readonly string[] | null {
  const parents = checks.filter(({ role, ns, isDsUnknown = false }) => {
    return role === 'parent' && ns.length > 0 && !isDsUnknown
  })
  return parents.length === 0 ? null : [...new Set(parents.flatMap(({ ds }) => ds))].toSorted()
}

/** A server that is silent may have other DS records than those that answer. */
function parentViewOf({ checks }: DomainResult): ParentView | null {
  const parents = checks.filter(({ role }) => role === 'parent')
  const said = parents.filter(({ ns }) => ns.length > 0)
  const isWhole = parents.every(
    ({ code, ns, isDsUnknown = false }) =>
      !isDsUnknown && (ns.length > 0 || !domainSilences.has(code)),
  )
  if (said.length === 0 || !isWhole) return null
  const onAny = [...new Set(said.flatMap(({ ds }) => ds))].toSorted()
  return { onAny, onAll: onAny.filter((one) => said.every(({ ds }) => ds.includes(one))) }
}
