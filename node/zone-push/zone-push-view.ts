// Shows zones that are pushed to other servers: to the API, to metrics, and to alerts.
import type { ZonePushFacts } from '#alerts/facts.ts'
import type { ShownNote, ShownPlan, ShownPush, ZonePushView } from '#ports/zone-pushes.ts'
import { pushLimits } from '#integrations/zone-push/limits.ts'
import type { Noted, PushPlan } from '#integrations/zone-push/plan.ts'
import type { PushReport } from '#integrations/zone-push/push-state.ts'
import type { ZonePusher } from '#integrations/zone-push/zone-pusher.ts'
import type { Clock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { MetricsSnapshot } from '#metrics/snapshot.ts'
import type { ZonePushes } from '#node/zone-push/zone-pushes.ts'

type Pushes = Pick<ZonePushes, 'pushers'> | null

/** @param pushes null: the settings have none */
export function createZonePushView(pushes: Pushes, clock: Pick<Clock, 'nowMs'>): ZonePushView {
  const named = (name: string): ZonePusher | undefined =>
    pushes?.pushers.find(({ settings }) => settings.name === name)
  return {
    list: () => (pushes?.pushers ?? []).map(shown),
    plan: async (name) => {
      const pusher = named(name)
      if (pusher === undefined) return null
      const planned = await pusher.plan(AbortSignal.timeout(planMs))
      return planned.ok ? ok(shownPlan(planned.value.plan, pusher.settings.deletesMax)) : planned
    },
    ask: async (name, asked) => {
      const pusher = named(name)
      if (pusher === undefined) return null
      return await pusher.ask({ ...asked, atMs: Math.floor(clock.nowMs()) })
    },
  }
}

/** A request waits no longer. */
const planMs = 60_000

function shown({ settings, state, fault }: ZonePusher): ShownPush {
  const { name, type, zone, deletesMax } = settings
  const report = state.report
  // What a node of another release has stored may lack some.
  const seen: Partial<PushReport> = report ?? {}
  const { adds = 0, deletes = 0, ttlChanges = 0 } = seen
  const error = fault || (report?.fault ?? '')
  return {
    ...{ name, type, zone, deletesMax, error, state: stateOf(error, report) },
    node: state.holder === '' ? null : state.holder.split(' ')[0]!,
    ...{ lookedAtMs: report?.atMs ?? 0, writtenAtMs: report?.writtenAtMs ?? 0 },
    plan: report?.plan ?? '',
    ...{ adds, deletes, ttlChanges, same: report?.same ?? 0 },
    ...{ missing: report?.missing ?? 0, foreign: report?.foreign ?? 0 },
    ...{ conflicts: report?.conflicts ?? 0, skipped: report?.skipped ?? 0 },
    ...{ written: report?.written ?? 0, notes: report?.notes ?? [] },
  }
}

function stateOf(error: string, report: ZonePusher['state']['report']): ShownPush['state'] {
  if (error !== '') return 'failing'
  if (report === null) return 'waiting'
  if (report.held !== null) return 'held'
  if (report.plan !== '') return 'pending'
  return report.conflicts > 0 ? 'conflict' : 'synced'
}

function shownPlan(plan: PushPlan, deletesMax: number): ShownPlan {
  const { shownMax } = pushLimits
  const {
    digest,
    adds,
    deletes,
    ttlChanges,
    changes,
    foreign,
    conflicts,
    skipped,
    same,
    adoptable,
  } = plan
  return {
    ...{ digest, adds, deletes, ttlChanges, deletesMax },
    changes: changes.slice(0, shownMax).map(({ owner, type, after, ...change }) => ({
      ...{ name: owner, type, ttl: after.ttlSeconds },
      ...{ adds: change.adds, deletes: change.deletes },
    })),
    foreign: foreign
      .slice(0, shownMax)
      .map(({ owner, type, values }) => ({ name: owner, type, values })),
    conflicts: conflicts.slice(0, shownMax).map(shownNote),
    skipped: skipped.slice(0, shownMax).map(shownNote),
    counts: {
      ...{ changes: changes.length, foreign: foreign.length, conflicts: conflicts.length },
      ...{ skipped: skipped.length, same, adoptable: adoptable.length },
    },
  }
}

const shownNote = ({ owner, type, why }: Noted): ShownNote => ({ name: owner, type, why })

export function pushSnapshots(pushes: Pushes): MetricsSnapshot['zonePushes'] {
  return (pushes?.pushers ?? []).map((pusher) => {
    const push = shown(pusher)
    const { same, missing, foreign, skipped } = push
    const pending = push.adds + push.deletes + push.ttlChanges
    return {
      ...{ target: push.name, isUp: push.state === 'waiting' ? null : push.error === '' },
      ...{ isHeld: push.state === 'held', written: push.written },
      records: { same, pending, missing, foreign, conflict: push.conflicts, skipped },
    }
  })
}

/** Records of others at other names raise no alert: they may be intended. */
export function pushFacts(pushes: Pushes): readonly ZonePushFacts[] {
  return (pushes?.pushers ?? []).map((pusher) => {
    const { name, zone, error, missing, conflicts } = shown(pusher)
    const held = pusher.state.report?.held ?? null
    return { name, zone, fault: error, held, drift: missing + conflicts }
  })
}
