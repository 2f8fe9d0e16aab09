// /api/v1/commits: several writes as one commit, made all or not at all.
import { Type } from '#lib/schema/type.ts'
import { WriteRoutes, tryRequests } from '#api/config/planned-requests.ts'
import { TrialWriter } from '#api/config/trial-writer.ts'
import { saidIn, writeAll } from '#api/config/writes.ts'
import { created } from '#http/reply.ts'
import { route } from '#api/route/route.ts'
import type { Route } from '#api/route/route.ts'
import { closed } from '#http/shapes.ts'
import { isConfigWrite } from '#api/route/answer-headers.ts'
import { PlannedRequest, requestsMax } from '../resources/answers/plan.ts'

const bodyBytesMax = 256 * 1024

const NewCommit = closed({
  requests: Type.Array(PlannedRequest, {
    minItems: 1,
    maxItems: requestsMax,
    description: 'Writes, each checked on top of those before it.',
  }),
})

const Committed = Type.Object(
  {
    commit: Type.String({ description: 'Of a dry run: the one that is there' }),
    ids: Type.Array(Type.String(), {
      description: 'Of each request, what it has made or changed; empty: nothing is left of it',
    }),
  },
  { title: 'Commit' },
)

export function commitRoutes(rows: readonly Route[]): readonly Route[] {
  const writes = new WriteRoutes(rows.filter(isConfigWrite))
  const commit = route('POST /api/v1/commits', {
    needs: 'any',
    tag: 'History',
    summary: 'Several writes as one commit: all of them, or none',
    details:
      'Each request is one that another route takes, of those that answer with an `ETag`, with ' +
      'its permission, its checks and its refusals. `ifMatch` of each is compared with what was ' +
      'there before the commit. A refusal names the request, such as `requests.1`, and nothing ' +
      'is changed.',
    body: NewCommit,
    bodyBytesMax,
    responses: { 201: { description: 'The commit', schema: Committed, hasRevision: true } },
    takesDryRun: true,
    refusals: [404, 412],
    ports: writes.ports,
    handle: async (context) => {
      const { ports } = context
      // Headers concern the commit, so a fault in them belongs to no single request.
      const said = saidIn(context)
      if (!said.ok) return said.error
      const trial = new TrialWriter(ports.configWriter, ports.config, ports.clock)
      const tried = await tryRequests(context, writes, trial)
      if (!tried.ok) return tried.error
      const done = await writeAll(context, trial.operations, {})
      if (!done.ok) return done.error
      const { revision, headers } = done.value
      return created({ commit: revision, ids: tried.value }, headers)
    },
  })
  return Object.freeze([commit])
}
