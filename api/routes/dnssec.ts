// /api/v1/dnssec: keys of signed zones, what they wait for, and rolls. No answer has a private key.
import { Type } from '#lib/schema/type.ts'
import { closed } from '#http/shapes.ts'
import { apiLimits } from '#http/limits.ts'
import { dnsNameOf } from '#http/paging.ts'
import { created, later, missing, noContent, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { RouteContext } from '#api/route/route.ts'
import { listObjects } from '#api/config/reads.ts'
import { hasZoneAlone } from '#config/name-holder.ts'
import { claimOf } from '#api/domains/domain-json.ts'
import { SignedZone, ZoneKey } from '#ports/zone-keys.ts'
import type { ZoneKeysFault } from '#ports/zone-keys.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'

const route = routesOf({ tag: 'DNSSEC' })

type Context = RouteContext<'config' | 'zoneKeys'>

/** A zone is its tenant's where a delegated domain of its name gives it the names. */
function zonesOf(context: Context): readonly SignedZone[] {
  const { caller, ports } = context
  const all = ports.zoneKeys.list()
  if (caller.isSystemAdmin || caller.tenant === defaultTenant) return all
  const own = new Set(listObjects(context, 'DelegatedDomain').map((one) => claimOf(one).domain))
  const snapshot = ports.config.snapshot()
  return all.filter(({ zone }) => own.has(zone) && hasZoneAlone(snapshot, caller.tenant, zone))
}

function zoneOf(context: Context & { readonly params: { readonly zone: string } }) {
  const name = dnsNameOf(context.params.zone)
  return zonesOf(context).find((one) => one.zone === name)
}

const list = route('GET /api/v1/dnssec/zones', {
  needs: 'dnssec:read',
  summary: 'Signed zones by name, with their keys and what they wait for',
  details:
    'A tenant sees the zones that it has alone, and as delegated domains; `default` sees all.',
  responses: { 200: { description: 'Zones', schema: Type.Array(SignedZone) } },
  ports: ['config', 'zoneKeys'],
  handle: (context) => success(zonesOf(context)),
})

const one = route('GET /api/v1/dnssec/zones/{zone}', {
  needs: 'dnssec:read',
  summary: 'A signed zone: its keys, their DS records, and what they wait for',
  responses: { 200: { description: 'The zone', schema: SignedZone } },
  ports: ['config', 'zoneKeys'],
  handle: (context) => {
    const zone = zoneOf(context)
    return zone === undefined ? missing('signed zone') : success(zone)
  },
})

const roll = route('POST /api/v1/dnssec/zones/{zone}/roll', {
  needs: 'dnssec:write',
  summary: 'Begin a roll: new keys are made, and take over step by step',
  details:
    'The steps follow by themselves, as caches and the parent permit; `waiting` says for what. ' +
    'While one goes on, another one is 409, but in an emergency. Another algorithm is set in ' +
    '`dnssec.algorithm` of the zone.',
  body: closed({
    which: Type.Optional(
      Type.Enum(['all', 'csk', 'ksk', 'zsk'], {
        default: 'all',
        description: 'Keys that are followed by new ones',
      }),
    ),
    emergency: Type.Optional(
      Type.Boolean({ default: false, description: 'Also while another roll goes on' }),
    ),
  }),
  responses: { 202: { description: 'It goes on by itself', schema: SignedZone } },
  refusals: [409],
  ports: ['config', 'zoneKeys'],
  handle: async (context) => {
    const zone = zoneOf(context)
    if (zone === undefined) return missing('signed zone')
    const { which = 'all', emergency = false } = context.body
    const done = await context.ports.zoneKeys.roll(zone.zone, { which, isEmergency: emergency })
    if (!done.ok) return refusalOf(done.error)
    return { ...success(done.value), status: 202 }
  },
})

const dsSeen = route('POST /api/v1/dnssec/zones/{zone}/ds-seen', {
  needs: 'dnssec:write',
  summary: 'Say that the parent has the DS of a key, where this node cannot ask it',
  details:
    'All servers of the parent have it, and no DS of another algorithm: the wait for the parent ' +
    'ends, as if it was seen now. The parent is asked first: where it says otherwise, this is 409.',
  body: closed({ tag: Type.Integer({ minimum: 0, maximum: 65_535, description: 'Of the key' }) }),
  responses: { 200: { description: 'The zone, with what it waits for now', schema: SignedZone } },
  refusals: [409],
  ports: ['config', 'zoneKeys'],
  handle: async (context) => {
    const zone = zoneOf(context)
    if (zone === undefined) return missing('signed zone')
    const done = await context.ports.zoneKeys.dsSeen(zone.zone, context.body.tag)
    return done.ok ? success(done.value) : refusalOf(done.error)
  },
})

const importKey = route('POST /api/v1/dnssec/zones/{zone}/keys', {
  needs: 'dnssec:write',
  summary: 'Import a key of another server: it signs from now on, or takes over by a roll',
  details:
    'The two files of BIND (`K….key`, `K….private`), as text. The private half is in no answer ' +
    'and in no log, and stored under `GSLB_SECRET_KEY`. In a zone whose DS record the parent may ' +
    'have, the key is shown beside the others, and begins a roll. Without `privateKey` another ' +
    'server signs the zone with it (RFC 8901): it is shown, and in CDS where it signs keys.',
  body: closed({
    record: Type.String({ minLength: 1, maxLength: 16_384, description: 'The `.key` file' }),
    privateKey: Type.Optional(
      Type.String({ minLength: 1, maxLength: 16_384, description: 'The `.private` file' }),
    ),
  }),
  responses: { 201: { description: 'The key', schema: ZoneKey } },
  refusals: [409],
  ports: ['config', 'zoneKeys'],
  handle: async (context) => {
    const zone = zoneOf(context)
    if (zone === undefined) return missing('signed zone')
    const { record, privateKey: secret = null } = context.body
    const done = await context.ports.zoneKeys.importKey(zone.zone, { record, secret })
    return done.ok ? created(done.value) : refusalOf(done.error)
  },
})

const removeKey = route('DELETE /api/v1/dnssec/zones/{zone}/keys/{id}', {
  needs: 'dnssec:write',
  summary: "Remove a key that is out of its zone, or another server's; one in use is 409",
  responses: { 204: { description: 'It is gone', schema: null } },
  refusals: [409],
  ports: ['config', 'zoneKeys'],
  handle: async (context) => {
    const zone = zoneOf(context)
    if (zone === undefined) return missing('signed zone')
    const done = await context.ports.zoneKeys.removeKey(zone.zone, context.params.id)
    return done.ok ? noContent() : refusalOf(done.error)
  },
})

function refusalOf({ code, message }: ZoneKeysFault): Reply {
  switch (code) {
    case 'missing':
      return missing('key')
    case 'invalid':
      return refused(400, message)
    case 'conflict':
      return refused(409, message)
    case 'no-store':
      return refused(503, message)
    case 'away':
      return later(503, message, apiLimits.bundles.retryAfterSeconds)
  }
}

export const dnssecRoutes = Object.freeze([list, one, roll, dsSeen, importKey, removeKey])
