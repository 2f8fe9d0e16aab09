// Parts: one spreads regressions of rollouts to all nodes, one commits how rollouts and windows
// ended.
import { OverlayKeeper } from '#node/overlays/overlay-keeper.ts'
import { Regressions } from '#node/overlays/regressions.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import type { Deps, Part } from './part.ts'

/** Before the node, which sees them. */
export const createRegressions: Part = (deps) => {
  const { settings, log, shared } = deps
  // Undefined until the node is put together.
  const node = (): Partial<Deps>['node'] => deps.node
  const regressions = new Regressions({
    shared: shared.rolloutTrips,
    nodeName: settings.state.nodeName,
    adopt: (trip) => node()?.overlayClock.adopt(trip),
    log,
  })
  return ok({ gives: { regressions } })
}

/** After the Git side: what it writes begins as a commit. */
export const keepOverlays: Part = ({ gitops, regressions, log }) => {
  const keeper = new OverlayKeeper({
    config: gitops.config,
    write: gitops.write,
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
    stop: async () => {
      leave()
      regressions.stop()
      await keeper.stop()
    },
  })
}
