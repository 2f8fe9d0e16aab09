// GET /api/v1/health: is this node answering? Always 200; a probe reads the word.
import { Type } from 'typebox'
import { success } from '#api/http/reply.ts'
import { route } from '#api/http/route.ts'

export const getHealth = route({
  method: 'GET',
  path: '/api/v1/health',
  needs: 'public',
  withoutConfig: true,
  tag: 'Node',
  summary: 'Whether this node answers',
  responses: {
    200: {
      description: 'starting: no bundle yet. degraded: answering, but something needs a person',
      schema: Type.Object({ status: Type.Enum(['ok', 'degraded', 'starting']) }),
    },
  },
  handle: ({ ports }) => success(ports.view.health()),
})
