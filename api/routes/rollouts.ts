// /api/v1/rollouts: timed ramps of one member's weight.
import type { ConfigEntry } from '#config/entry.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import { findPart, targetOf } from '#api/config/reads.ts'
import { write } from '#api/config/writes.ts'
import { invalid, refused } from '#http/reply.ts'
import { NewRollout, Rollout, showRollout } from '../resources/rollout.ts'
import type { RouteContext } from '#api/route/route.ts'

const rollouts = objectRoutes({
  kind: 'Rollout',
  path: '/api/v1/rollouts',
  tag: 'Rollouts',
  noun: 'rollout',
  reads: 'rollout:read',
  writes: 'rollout:write',
  schema: Rollout,
  ports: ['config', 'overlays', 'clock'],
  show: shown,
})

function shown(
  { ports }: Pick<RouteContext<'config' | 'overlays' | 'clock'>, 'ports'>,
  entry: ConfigEntry<'Rollout'>,
) {
  return showRollout(ports.config.snapshot(), ports.overlays, entry, ports.clock.nowMs())
}

/** A new rollout is pending until the controller's next tick. */
const pendingMs = 5_000

const create = rollouts.create({
  licensed: 'rollouts',
  summary: "Begin a timed ramp of a member's weight (tier pro)",
  body: NewRollout,
  operation: (context) => {
    const { ports, body } = context
    const found = findPart(context, 'Member', body.memberId)
    if (found === undefined) return invalid('memberId', 'there is no such member')
    const nowMs = ports.clock.nowMs()
    const uid = uuidV7(nowMs)
    return {
      verb: 'begin',
      kind: 'Rollout',
      tenant: found.owner.tenant,
      name: `rollout-${uid}`,
      uid,
      member: targetOf(context.caller, found.part.uid),
      spec: {
        startAt: new Date(nowMs + pendingMs).toISOString(),
        steps: body.steps,
        ...(body.regressionPolicy === undefined ? {} : { regressionPolicy: body.regressionPolicy }),
      },
      atMs: nowMs,
    }
  },
})

const summaries = {
  pause: 'Hold the current weight of a running rollout',
  promote: 'Jump to the weight of the last step',
  abort: 'Restore the weight from before the rollout',
} as const

const decisions = (['pause', 'promote', 'abort'] as const).map((intent) =>
  rollouts.route(`POST /api/v1/rollouts/{id}/${intent}`, {
    needs: 'rollout:write',
    summary: summaries[intent],
    responses: { 200: rollouts.one },
    ifMatch: 'the rollout',
    ports: ['config', 'configWriter', 'overlays', 'clock', 'log'],
    handle: (context) => decide(context, context.params.id, intent),
  }),
)

async function decide(
  context: Pick<
    RouteContext<'config' | 'configWriter' | 'overlays' | 'clock' | 'log'>,
    'caller' | 'ports' | 'request' | 'requestId' | 'isDryRun'
  >,
  id: string,
  intent: keyof typeof summaries,
) {
  const found = rollouts.toChange(context, id)
  if (!found.ok) return found.error
  const { item, on, condition } = found.value
  // A regression ends a rollout at once, also before the file records it.
  if (shown(context, item).state === 'rolled_back') {
    return refused(409, `${intent} is not possible: the rollout is rolled back`)
  }
  const atMs = context.ports.clock.nowMs()
  const done = await write(context, { verb: 'decide', ...on, intent, atMs, ...condition })
  return rollouts.changed(context, done)
}

export const rolloutRoutes = Object.freeze([rollouts.list(), create, rollouts.get(), ...decisions])
