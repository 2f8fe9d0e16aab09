// Parts: one spreads regressions of rollouts to all nodes, one commits how rollouts and windows
// ended.
import { OverlayKeeper } from '#node/overlays/overlay-keeper.ts'
import { Regressions } from '#node/overlays/regressions.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'

/** Started before the node, which detects regressions. */
export const createRegressions = (have: Given & Has<'shared'>): Outcome<Has<'regressions'>> => {
  const { settings, log, shared, later } = have
  const regressions = new Regressions({
    shared: shared.rolloutTrips,
    nodeName: settings.state.nodeName,
    adopt: (trip) => later.node?.overlayClock.adopt(trip),
    log,
  })
  return ok({ gives: { regressions } })
}

/** Started after the Git side, since an outcome is written as a commit. */
export const keepOverlays = (have: Given & Has<'gitops' | 'regressions'>): Outcome => {
  const { gitops, regressions, log } = have
  const keeper = new OverlayKeeper({
    config: gitops.config,
    // Not judged: rollouts and windows that began or ended are in effect already.
    write: (request) => gitops.write({ ...request, judgement: { by: 'nobody' } }),
    tripOf: regressions.trip,
    clock: systemClock,
    after: systemAfter,
    random: new Random(process.pid),
    log,
  })
  const leave = regressions.onRegression(({ rolloutUid, isOwn }) =>
    keeper.regressed(rolloutUid, isOwn),
  )
  regressions.start()
  keeper.start()
  return ok({
    gives: {},
    stop: async () => {
      leave()
      regressions.stop()
      await keeper.stop()
    },
  })
}
