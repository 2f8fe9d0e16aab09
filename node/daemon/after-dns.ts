// The parts of the daemon that start once it answers DNS: Git, the API, and what needs them.
import { keepAlerts } from './alerts.ts'
import { createApi, listen, lookAtLicence } from './api.ts'
import { giveBundles } from './bundles.ts'
import { joinCluster } from './cluster.ts'
import { shareCommitNews } from './commit-news.ts'
import { keepDelivery } from './delivery.ts'
import { announceAddresses } from './dns.ts'
import { renewCertificates } from './certificates.ts'
import { createGit, followBranch, makeRepository } from './git.ts'
import { followZones } from './inbound.ts'
import { keepOverlays } from './overlays.ts'
import { keepTelemetry } from './telemetry.ts'
import type { Given, PartChain, Outcome } from '#node/parts/part.ts'
import type { Has, NodeOutput } from '#node/parts/part-outputs.ts'
import { runJobs } from './periodic.ts'
import { pushZones } from './redirects.ts'
import { listenForBackupRequests, lookAtDatabase } from './state.ts'
import { parentDsPathOf, readParentDs, writeParentDs } from '#gitops/guard/parent-ds.ts'
import { createNodeDomains } from '#node/compose/domains.ts'
import { planningFirstKeys } from '#node/signing/first-keys.ts'
import { createNodeKeyKeeper, keyNodesOf } from '#node/signing/key-keeper.ts'
import { BehindNodes } from '#server/signing/behind-nodes.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'

type OfState = 'dataDir' | 'key' | 'shared' | 'records' | 'journals' | 'keyVault' | 'certificates'
type OfDynamicDns = 'dynamicDns' | 'lookAtDynamicDns' | 'followDynamicDns'
type OfAnswers = NodeOutput | 'regressions' | 'redirects' | 'redirectPushes' | 'cookies' | 'dnsPort'

/** The outputs of the parts before: the node answers DNS. */
type Answering = Given & Has<OfState | OfDynamicDns | OfAnswers>

/** Adds the parts in their order; a stop runs in reverse. */
export const following = (chain: PartChain<Answering>) =>
  chain
    .with(lookAtDatabase)
    .with(makeRepository)
    .with(keepTelemetry)
    .with(createGit)
    .with(shareCommitNews)
    .with(keepAlerts)
    .with(joinCluster)
    .with(createDomains)
    .with(pushZones)
    .with(keepDelivery)
    .with(createApi)
    .with(giveBundles)
    .with(renewCertificates)
    .with(listen)
    .with(lookAtLicence)
    .with(followBranch)
    .with(keepOverlays)
    .with(followZones)
    .with(listenForBackupRequests)
    .with(runJobs)
    .with(announceAddresses)

type DomainsNeed = Has<
  'records' | 'gitops' | 'signing' | 'store' | 'node' | 'keyVault' | 'inventory'
>
type DomainsGive = Has<'domains' | 'verifyDomains' | 'keyKeeper' | 'behindNodes'>

/** Part: the checks of delegated domains, and what rolls keys by what they find. */
const createDomains = (have: Given & DomainsNeed): Outcome<DomainsGive> => {
  const { settings, records, gitops, signing, store, node, log } = have
  const { vault } = have.keyVault
  const domains = createNodeDomains({
    settings,
    store: records.state.atOnce.domains,
    config: gitops.config,
    dsOf: (zone) => signing.dsOf(zone),
    rolled: () => keyKeeper?.views() ?? [],
    parentsBefore: readParentDs(parentDsPathOf(settings.dataDir)),
    onParents(seen) {
      try {
        writeParentDs(parentDsPathOf(settings.dataDir), seen)
      } catch (error) {
        log.warn(
          { err: error },
          'delegations were not stored: guardrails compare with earlier ones',
        )
      }
    },
    clock: systemClock,
    log,
  })
  // On a node without an API nobody could ask for results in its own database.
  const isAsked = settings.api.enabled || settings.database.url !== ''
  const verifyDomains = async (): Promise<void> => (isAsked ? domains.look() : undefined)
  const behindNodes = new BehindNodes({
    nodes: () => keyNodesOf(have.inventory.all()),
    revision: () => vault?.revision ?? 0,
    monotonicMs: systemClock.monotonicMs,
  })
  const keyKeeper =
    vault === null
      ? null
      : createNodeKeyKeeper({
          ...{ dataDir: settings.dataDir, vault, config: gitops.config },
          behind: (beyondMs) => behindNodes.waitedFor(beyondMs),
          ...{ bundle: () => node.bundle(), parentOf: domains.parentOf, clock: systemClock, log },
        })
  // Zones that a node without the role dns signed earlier have their keys on the nodes that answer.
  const mayBeElsewhere = !settings.roles.includes('dns') && store.hadRecord
  have.keyVault.planFirst(
    planningFirstKeys({
      ...{ config: gitops.config, dsAtParent: domains.dsAtParent },
      nodesAhead: () =>
        keyNodesOf(have.inventory.all())
          .filter(({ revision }) => revision > (vault?.revision ?? 0))
          .map(({ name }) => name),
      signedBefore: () => (mayBeElsewhere ? signing.signedAtStart() : new Set()),
    }),
  )
  return ok({ gives: { domains, verifyDomains, keyKeeper, behindNodes } })
}
