// /api/v1/redirects: hosts whose visitors are redirected.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { checkHostPattern } from '#compiler/values/names.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { uuidV7 } from '#lib/uuid.ts'
import { redirectCodeDefault, redirectCodes, RedirectSpec } from '#schemas/objects/redirect.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import { listObjects } from '#api/config/reads.ts'
import { unownedRefusal } from '#api/domains/record-rights.ts'
import { NamedPaging, pageByName } from '#http/paging.ts'
import { invalid } from '#http/reply.ts'
import { closed, unixSeconds } from '#http/shapes.ts'
import { defaulted, plain, withoutDefaults } from '../resources/fields.ts'

const { sourceFqdn, targetUrl, preservePath, hstsMaxAge, hstsIncludeSubDomains } =
  RedirectSpec.properties

const RedirectRule = Type.Object(
  {
    id: Type.String(),
    tenantId: Type.String(),
    sourceFqdn: Type.String({ description: 'Lower case, without the trailing dot' }),
    targetUrl: Type.String(),
    code: Type.Integer({ description: '301, 302, 307 or 308' }),
    preservePath: Type.Boolean(),
    hstsMaxAge: Type.Integer(),
    hstsIncludeSubDomains: Type.Boolean(),
    createdAt: Type.Integer({ description: 'Unix seconds; 0: written by hand, and not said' }),
    hitCount: Type.Integer({
      description: 'Requests that it answered, on all nodes; a restart loses a few',
    }),
  },
  { title: 'RedirectRule' },
)

const NewRedirect = closed({
  sourceFqdn: plain(sourceFqdn, { examples: ['old.example.com'] }),
  targetUrl: plain(targetUrl, { examples: ['https://www.example.com/'] }),
  code: Type.Optional(
    Type.Integer({
      default: redirectCodeDefault,
      description: '301, 302, 307 or 308; any other number is taken as 301.',
    }),
  ),
  preservePath: defaulted(preservePath),
  hstsMaxAge: defaulted(hstsMaxAge),
  hstsIncludeSubDomains: defaulted(hstsIncludeSubDomains),
})
type NewRedirect = Static<typeof NewRedirect>

const redirects = objectRoutes({
  kind: 'Redirect',
  path: '/api/v1/redirects',
  tag: 'Redirects',
  noun: 'redirect',
  reads: 'redirect:read',
  writes: 'redirect:write',
  schema: RedirectRule,
  show: (_, entry) => show(entry, 0),
})

const list = redirects.route('GET /api/v1/redirects', {
  needs: 'redirect:read',
  summary: 'All redirects, by name, with their hits on all nodes',
  details:
    'Every node adds its hits at least each five seconds; those of the node that answers are in ' +
    'at once.',
  query: NamedPaging,
  responses: { 200: { description: 'Redirects', schema: Type.Array(RedirectRule) } },
  ports: ['config', 'responseHits'],
  handle: async (context) => {
    const hits = await context.ports.responseHits()
    return pageByName(listObjects(context, 'Redirect'), context.query, (entry) =>
      show(entry, hits.get(entry.uid) ?? 0),
    )
  },
})

const create = redirects.create({
  licensed: 'redirects',
  summary: 'Send the browsers of a host elsewhere (tier paid)',
  details:
    'The listener of this node answers it when the request returns. A record or a service has to ' +
    'lead the host there. There is no change of a redirect: delete it, and add another. ' +
    'Redirects of all hosts of a domain (`*.old.example.com`) come from Git alone.',
  body: NewRedirect,
  ports: ['config', 'domains', 'clock'],
  operation: async (context) => {
    const { caller, ports } = context
    if (context.body.sourceFqdn.includes('*')) return invalid('sourceFqdn', wildcardsInGit)
    const unowned = await unownedRefusal(context, context.body.sourceFqdn)
    if (unowned !== undefined) return unowned
    const nowMs = ports.clock.nowMs()
    const uid = uuidV7(nowMs)
    return {
      verb: 'create',
      kind: 'Redirect',
      tenant: caller.tenant,
      name: `redirect-${uid}`,
      uid,
      spec: { ...specOf(context.body), createdAt: unixSeconds(nowMs) },
    }
  },
})

const removeRedirect = redirects.remove({ summary: 'Delete a redirect' })

const wildcardsInGit =
  'must be one host: redirects of all hosts of a domain (*.old.example.com) are declared in Git'

function specOf({ code, ...given }: NewRedirect) {
  const sent = sentCode(code ?? redirectCodeDefault)
  const fields = { ...given, code: sent, sourceFqdn: plainHost(given.sourceFqdn) }
  return withoutDefaults(fields, RedirectSpec)
}

function show({ uid, tenant, object: { spec } }: ConfigEntry<'Redirect'>, hitCount: number) {
  return {
    id: uid,
    tenantId: tenant,
    sourceFqdn: plainHost(spec.sourceFqdn),
    targetUrl: spec.targetUrl,
    code: sentCode(spec.code),
    preservePath: spec.preservePath,
    hstsMaxAge: spec.hstsMaxAge,
    hstsIncludeSubDomains: spec.hstsIncludeSubDomains,
    createdAt: spec.createdAt ?? 0,
    hitCount,
  }
}

/** Text that is no host is left as it is: the compiler explains it. */
function plainHost(text: string): string {
  return (checkHostPattern(text).key ?? text).replace(/\.$/, '')
}

function sentCode(code: number): number {
  return redirectCodes.find((one) => one === code) ?? redirectCodeDefault
}

export const redirectRoutes = Object.freeze([list, create, removeRedirect])
