// Part: builds the alerts of the node, and withdraws it from the cluster at a stop. A job runs
// their rounds.
import { createNodeAlerts } from '#node/compose/alerts.ts'
import { createDeliveriesView } from '#node/status/delivery-view.ts'
import { renewalsOf } from '#node/certificates/certificates-view.ts'
import { pushFacts } from '#node/zone-push/zone-push-view.ts'
import { createAlertFacts } from '#node/status/alert-facts.ts'
import { zoneKeyFacts } from '#node/status/zone-key-facts.ts'
import { faultOfDisk } from '#process/data/disk-use.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { channel } from './git.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'

type OfState = 'dataDir' | 'records' | 'certificates' | 'redirectPushes'
type OfKeys = 'signing' | 'keyVault'
type Needs = Given & Has<OfState | OfKeys | 'node' | 'geo' | 'health' | 'discovery' | 'gitops'>

export const keepAlerts = (have: Needs): Outcome<Has<'alerts'>> => {
  const { settings, env, log, node, gitops, geo, health, records, dataDir, later } = have
  // The licence belongs to a later part.
  const licence = () => later.licence
  const facts = createAlertFacts({
    ...{ settings, node, gitops, geo, health, licence, clock: systemClock },
    renewals: () => renewalsOf(settings.acme, have.certificates?.vault ?? null),
    redirectTargets: () => have.redirectPushes.status(),
    zonePushes: () => pushFacts(later.zonePushes ?? null),
    discoverySources: () => have.discovery.sources(),
    zoneTransfers: () => later.inbound?.status() ?? [],
    zoneKeys: () => zoneKeysOf(have),
    dataDirFault: () => faultOfDisk(dataDir.fault(), gitops.status()),
    reasons: () => later.operatorView?.health().reasons ?? [],
    drifted: () => later.drifted?.() ?? [],
    // No condition of an alert reads the plan.
    deliveries: () => {
      const keeper = later.delivery?.keeper
      if (keeper === undefined) return []
      return createDeliveriesView(
        channel,
        () => keeper,
        () => '',
      ).list()
    },
  })
  const { state } = records
  const alerts = createNodeAlerts({ settings, env, state, facts, clock: systemClock, log })
  if (!alerts.ok) return alerts
  return ok({ gives: { alerts: alerts.value }, stop: () => alerts.value.keeper.stop() })
}

function zoneKeysOf(have: Needs): ReturnType<typeof zoneKeyFacts> {
  const { settings, signing, later } = have
  const { vault } = have.keyVault
  return zoneKeyFacts({
    nodeName: settings.state.nodeName,
    // Elsewhere nobody is answered.
    missingKeys: () => (settings.roles.includes('dns') ? signing.missing() : []),
    keyTroubles: () => vault?.troubles() ?? [],
    behindNodes: () => (vault === null ? [] : (later.behindNodes?.notable() ?? [])),
    dsFaults: () => later.domains?.dsFaults() ?? new Map(),
    rolled: () => later.keyKeeper?.views() ?? [],
    nodes: () => later.inventory?.all() ?? [],
    nowMs: systemClock.nowMs,
  })
}
