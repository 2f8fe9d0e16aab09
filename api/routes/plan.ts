// /api/v1/plan: which clients would get another answer after proposed writes.
import { fullName } from '#compiler/values/record-sets.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { seesFile, visibleTenant } from '#access/caller.ts'
import { WriteRoutes, tryRequests } from '#api/config/planned-requests.ts'
import { TrialWriter } from '#api/config/trial-writer.ts'
import { visible } from '#api/config/writes.ts'
import { later, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { route } from '#api/route/route.ts'
import type { Route, RouteContext } from '#api/route/route.ts'
import type { PlanQuestion } from '#ports/planner.ts'
import type { PortName } from '#ports/ports.ts'
import { takesDryRun } from '#api/route/answer-headers.ts'
import { notFoundOut } from '../resources/answers/faults.ts'
import { NewPlan, Plan } from '../resources/answers/plan.ts'

type Context = RouteContext<PortName, unknown, unknown, NewPlan>

const bodyBytesMax = 256 * 1024

/**
 * @param rows a route that makes several writes in one commit is not among them: its writes are
 * planned
 */
export function planRoutes(rows: readonly Route[]): readonly Route[] {
  const writes = new WriteRoutes(rows.filter(takesDryRun))
  const plan = route('POST /api/v1/plan', {
    needs: 'any',
    tag: 'Explanations',
    summary: 'Which clients would get another answer after writes, of which none is made',
    details:
      'Each request is one that another route takes, with its permission, its checks and its ' +
      'refusals, and is tried on top of those before it. What would answer then is compared ' +
      'with what this node answers. Names, pools and regions of other tenants are not shown. A ' +
      'tenant has one plan at a time.',
    body: NewPlan,
    bodyBytesMax,
    responses: { 200: { description: 'The plan', schema: Plan } },
    refusals: [404, 409, 412, 429],
    ports: [...writes.ports, 'planner', 'plansUnderWay'],
    handle: async (context) => {
      const leave = context.ports.plansUnderWay.enter(context.caller.tenant)
      if (leave === undefined) return later(429, 'your tenant has a plan under way: wait for it', 1)
      try {
        return await answer(context, writes)
      } finally {
        leave()
      }
    },
  })
  return Object.freeze([plan])
}

async function answer(context: Context, table: WriteRoutes): Promise<Reply> {
  const { caller, ports, body } = context
  const { at = [], health = 'all-up', limit = 100 } = body
  const trial = new TrialWriter(ports.configWriter, ports.config, ports.clock)
  const tried = await tryRequests(context, table, trial)
  if (!tried.ok) return tried.error
  const { bundle, goesBack } = trial
  const question = { bundle, goesBack, at, limit, withHealth: health === 'now' }
  const done = await ports.planner.plan({ ...question, viewer: viewerOf(context, trial) })
  if (!done.ok) return notFoundOut(done.error, words)
  const seen = {
    files: trial.files.filter(({ path }) => seesFile(caller, path)),
    diagnostics: visible(trial.warnings, caller),
  }
  return success({ ...done.value, ...seen })
}

const words = {
  others: 'plans',
  tooSlow: 'the plan took too much time or memory and was ended: use `gslbd plan`',
} as const

/** The viewer of the plan, with the names that it would have. */
function viewerOf({ caller, ports }: Context, trial: TrialWriter): PlanQuestion['viewer'] {
  const tenant = visibleTenant(caller)
  if (tenant === null) return null
  const names = new Set<string>()
  for (const snapshot of [ports.config.snapshot(), trial.config.snapshot()]) {
    for (const file of snapshot.list('Records')) {
      if (file.tenant === tenant) for (const name of namesIn(file)) names.add(name)
    }
  }
  return { tenant, names }
}

function namesIn(file: ConfigEntry<'Records'>): readonly string[] {
  const { zone } = file.object.spec
  return partsIn('RecordSet', file).flatMap(({ name }) => fullName(zone, name) ?? [])
}
