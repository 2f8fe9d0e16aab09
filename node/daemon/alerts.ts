// Part: builds the alerts of the node, and leaves the cluster at the stop. A job runs their rounds.
import { createNodeAlerts } from '#node/compose/alerts.ts'
import { createDeliveriesView } from '#node/status/delivery-view.ts'
import { createAlertFacts } from '#node/status/alert-facts.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { channel } from './git.ts'
import type { Deps, Part } from './part.ts'

export const keepAlerts: Part = (deps) => {
  const { settings, env, log, node, gitops, geo, health, records, dataDir } = deps
  // A later part puts the licence together.
  const licence = (): Partial<Deps>['licence'] => deps.licence
  const facts = createAlertFacts({
    ...{ settings, node, gitops, geo, health, licence, clock: systemClock },
    redirectTargets: () => deps.redirectPushes.status(),
    dataDirFault: () => dataDir.fault(),
    drifted: () => deps.drifted(),
    // No condition needs to know what a plan says.
    deliveries: () =>
      createDeliveriesView(
        channel,
        () => deps.delivery.keeper,
        () => '',
      ).list(),
  })
  const { state } = records
  const alerts = createNodeAlerts({ settings, env, state, facts, clock: systemClock, log })
  if (!alerts.ok) return alerts
  return ok({ gives: { alerts: alerts.value }, stop: () => alerts.value.keeper.stop() })
}
