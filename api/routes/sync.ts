// POST /api/v1/sync: makes the node look at its branch at once.
import { Type } from '#lib/schema/type.ts'
import { apiLimits } from '#http/limits.ts'
import { route } from '#api/route/route.ts'

export const syncNow = route('POST /api/v1/sync', {
  needs: 'settings:write',
  ofPlatform: true,
  withoutConfig: true,
  withWebhook: true,
  bodyBytesMax: apiLimits.webhookBytesMax,
  tag: 'Node',
  summary: 'Have the node look at its branch at once, as a webhook or after a push',
  details:
    'With `GSLB_WEBHOOK_SECRET` a webhook needs no key: it is signed in `X-Hub-Signature-256` ' +
    '(GitHub, and whoever signs by hand), `X-Hub-Signature` (Bitbucket) or `X-Gitea-Signature` ' +
    '(Gitea, Forgejo), or has the secret in `X-Gitlab-Token`. The body is not read for ' +
    'anything else. The node looks at most once a second; who asks more often shares a look. It ' +
    'is done when `lookedFromMs` of `GET /api/v1/gitops/status` has reached `askedAtMs`.',
  responses: {
    202: {
      description: 'The node looks',
      schema: Type.Object({ askedAtMs: Type.Integer() }),
    },
  },
  refusals: [413],
  ports: ['syncNow'],
  handle: ({ ports }) => ({ status: 202, body: { askedAtMs: ports.syncNow() } }),
})
