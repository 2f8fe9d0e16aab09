// GET /api/v1/health: liveness, always 200. GET /api/v1/ready: readiness.
import { Type } from '#lib/schema/type.ts'
import { apiLimits } from '#http/limits.ts'
import { refused, success } from '#http/reply.ts'
import { route } from '#api/route/route.ts'

const reasons = Type.Array(Type.Object({ code: Type.String(), message: Type.String() }), {
  description: 'What is wrong, and what is still to be done; empty only with ok or ready',
})

export const getHealth = route('GET /api/v1/health', {
  needs: 'public',
  withoutConfig: true,
  tag: 'Node',
  summary: 'Whether this node answers',
  responses: {
    200: {
      description: 'starting: no bundle yet. degraded: answering, but something needs a person',
      schema: Type.Object({ status: Type.Enum(['ok', 'degraded', 'starting']), reasons }),
    },
  },
  ports: ['view'],
  handle: ({ ports }) => success(ports.view.health()),
})

export const getReady = route('GET /api/v1/ready', {
  needs: 'public',
  withoutConfig: true,
  tag: 'Node',
  summary: 'Whether this node can be used',
  details:
    '503 from the start until there are a bundle, the configuration and the database. A database ' +
    'that goes away later changes nothing here, since queries are answered: see /api/v1/health.',
  responses: {
    200: {
      description: 'It can be used',
      schema: Type.Object({ status: Type.Literal('ready'), reasons }),
    },
  },
  refusalBodies: { 503: Type.Object({ error: Type.String(), reasons }) },
  ports: ['view'],
  handle: ({ ports }) => {
    const waitsFor = ports.view.unready()
    if (waitsFor.length === 0) return success({ status: 'ready', reasons: [] })
    const said = waitsFor.map(({ message }) => message).join(' ')
    const answer = refused(503, `not ready: ${said}`, { reasons: waitsFor })
    return { ...answer, headers: { 'retry-after': String(apiLimits.retryAfter.readingSeconds) } }
  },
})
