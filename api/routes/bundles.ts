// /bundles/…: serves nodes that pull: the signed record of a channel, and the bundle that it names.
import { pipeline } from 'node:stream'
import type { Readable } from 'node:stream'
import { createZstdCompress } from 'node:zlib'
import { Type } from '#lib/schema/type.ts'
import { closed } from '#http/shapes.ts'
import { takesCoding } from '#http/compression/accepted.ts'
import { apiLimits } from '#http/limits.ts'
import { later, missing, noContent, refused, success } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import type { RequestFacts } from '#http/request-facts.ts'
import type { AuthPolicy } from '#access/auth/policy.ts'
import type { Caller } from '#access/caller.ts'
import type { Result } from '#lib/result.ts'
import type { Bundles, KeysFault, OpenBundle } from '#ports/bundles.ts'

const route = routesOf({ tag: 'Fleet', withoutConfig: true, withBundleToken: true })
const { waitSecondsMax, retryAfterSeconds, reportBytesMax, wordsBytesMax, journalBytesMax } =
  apiLimits.bundles
const tokenNote =
  'Bundles hold the configuration of all tenants: the system key opens it, and ' +
  'the token in GSLB_BUNDLE_TOKEN.'

const waitQuery = (without: string) =>
  closed({
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: waitSecondsMax,
        description: `Seconds; ${without} it has no effect`,
      }),
    ),
  })

const signedRecord = {
  description: 'The record as it was signed',
  schema: Type.String(),
  contentType: 'application/json; charset=utf-8',
  isTagged: true,
} as const

const channel = route('GET /bundles/channels/{name}', {
  needs: 'system',
  summary: 'The signed record of a channel: which bundle serves',
  details:
    `${tokenNote} With If-None-Match and \`wait\` the answer comes when there is another record, ` +
    'or as 304 when the time is over. Too many who wait are 503.',
  query: waitQuery('without If-None-Match'),
  responses: {
    200: signedRecord,
    304: { description: 'The record is the one of If-None-Match', schema: null },
  },
  ports: ['bundles'],
  handle: async ({ ports: { bundles }, params: { name }, query: { wait = 0 }, request }) => {
    const known = request.header('if-none-match')
    const before = bundles.record(name)
    if (before === undefined) return missing('channel')
    if (before === 'later') return busy
    if (known === before.tag && !(await bundles.waitForOther(name, known, wait * 1000))) {
      return busy
    }
    const { text, tag: entityTag } = recordNow(bundles.record(name), before)
    const headers = { etag: entityTag, 'cache-control': 'no-cache', 'accept-post': takenBody }
    return known === entityTag ? { status: 304, headers } : success(text, headers)
  },
})

type Sent = Exclude<ReturnType<Bundles['record']>, 'later' | undefined>

const recordNow = (now: ReturnType<Bundles['record']>, before: Sent): Sent =>
  now === undefined || now === 'later' ? before : now

const takenBody = 'application/json'

const tell = route('POST /bundles/channels/{name}', {
  needs: 'system',
  fromNodes: true,
  summary: 'The same for a node that says how it is',
  details:
    'The answer is that of GET, in its wave; 204 when the record is the one of `tag`, which ' +
    'comes early while its wave is on. What was told is in ' +
    '`GET /api/v1/cluster/nodes`. No such call is in the audit log.',
  query: waitQuery('without a tag'),
  body: closed({
    tag: Type.Union([Type.String({ maxLength: 200 }), Type.Null()], {
      description: 'Of the record that the node has; null: it has none',
    }),
    report: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What the node says of itself',
    }),
  }),
  bodyBytesMax: reportBytesMax,
  responses: {
    200: signedRecord,
    204: { description: 'The record is the one of `tag`', schema: null },
  },
  ports: ['bundles'],
  handle: async ({ ports: { bundles }, params: { name }, query: { wait = 0 }, body }) => {
    if (bundles.record(name) === undefined) return missing('channel')
    const asking = bundles.takeReport(body.report)
    if (!asking.ok) return refused(400, asking.error)
    const node = asking.value
    const before = bundles.record(name, node)
    if (before === undefined || before === 'later') return busy
    const isSame = body.tag === before.tag
    if (isSame && !(await bundles.waitForOther(name, before.tag, wait * 1000, node))) return busy
    const { text, tag: entityTag } = recordNow(bundles.record(name, node), before)
    const shadow = bundles.shadowFor(node)
    const headers = {
      ...{ etag: entityTag, 'accept-post': takenBody },
      ...(shadow === '' ? {} : { 'gslb-shadow': shadow }),
    }
    return body.tag === entityTag ? { status: 204, headers } : success(text, headers)
  },
})

const health = route('POST /bundles/health', {
  needs: 'system',
  fromNodes: true,
  summary: 'What a probe agent finds of members',
  details:
    'For agents without Redis. It is said to all nodes as if it had come that way. `instance` is ' +
    'another one after a restart: who has told the one before tells it all again. No such call ' +
    'is in the audit log.',
  body: closed({
    node: Type.String({ maxLength: 253, description: 'Name of the agent' }),
    site: Type.String({
      maxLength: 63,
      description: 'Where it is; empty: nowhere in particular',
    }),
    changed: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      maxItems: 1_000,
      description: 'Members with what was found of each',
    }),
    withdrawn: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      maxItems: 1_000,
      description: 'Members that it no longer judges',
    }),
  }),
  bodyBytesMax: wordsBytesMax,
  responses: {
    200: {
      description: 'It was said to the others',
      schema: Type.Object({ instance: Type.String() }),
    },
  },
  ports: ['bundles'],
  handle: async ({ ports: { bundles }, body }) => {
    const heard = await bundles.heard(body)
    if (heard.ok) return success(heard.value)
    return heard.error === null ? busy : refused(400, heard.error)
  },
})

const journal = route('POST /bundles/journal', {
  needs: 'system',
  fromNodes: true,
  summary: 'What the journal of a node of the role dns has',
  details:
    'Whole records that follow what is there of a segment; without octets, a question how much ' +
    'there is. 400 says what is wrong with them, 404 that this node has no database, 503 that it ' +
    'is away. `POST /api/v1/why` explains answers by it. No such call is in the audit log.',
  body: closed({
    node: Type.String({ maxLength: 253, description: 'Name of the node' }),
    run: Type.String({ maxLength: 36, description: 'Of the process, by chance' }),
    number: Type.Integer({ minimum: 0, description: 'Of the segment' }),
    at: Type.Integer({ minimum: 0, description: 'Where in the segment the octets begin' }),
    octets: Type.String({ maxLength: 2_900_000, description: 'Base64' }),
  }),
  bodyBytesMax: journalBytesMax,
  responses: {
    200: {
      description: 'Other than the end of the octets: they were not added',
      schema: Type.Object({
        bytes: Type.Integer({ description: 'Of the segment, as it is here' }),
      }),
    },
  },
  refusals: [404],
  ports: ['bundles'],
  handle: async ({ ports: { bundles }, body }) => {
    const taken = await bundles.journal(body)
    if (taken.ok) return success(taken.value)
    switch (taken.error.code) {
      case 'refused':
        return refused(400, taken.error.message)
      case 'no-database':
        return refused(404, 'this node keeps no journals: it has no database yet')
      case 'away':
        return notKept
    }
  },
})

/** Columns of routes that give something to one node alone. */
const sealed = {
  needs: 'system',
  fromNodes: true,
  body: closed({
    report: Type.Record(Type.String(), Type.Unknown(), {
      description: 'What the node says of itself',
    }),
    revision: Type.Integer({ minimum: 0, description: 'Of what it has; 0: nothing' }),
  }),
  bodyBytesMax: reportBytesMax,
  responses: {
    200: {
      description: 'The envelope',
      schema: Type.String(),
      contentType: 'application/octet-stream',
    },
    204: { description: 'The node has it, or gets it later', schema: null },
  },
  refusals: [403, 404],
  ports: ['bundles', 'auth'],
} as const

function give(
  given: Result<Uint8Array | null, KeysFault>,
  { systemKey }: AuthPolicy,
  { isSystemAdmin }: Caller,
): Reply {
  // Without GSLB_API_KEY everybody is the system's administrator, also with a wrong token.
  const isProven = systemKey !== null || !isSystemAdmin
  if (!isProven) return refused(403, 'set GSLB_BUNDLE_TOKEN here and on the nodes that get keys')
  if (given.ok) return given.value === null ? noContent() : success(given.value)
  const { code, message } = given.error
  return code === 'away' ? later(503, message, retryAfterSeconds) : refused(statusOf[code], message)
}

const envelopeNote =
  'For nodes of the role dns. The report is that of a channel, with `sealTo`, the public half ' +
  'of an X25519 key for this question; the answer is an envelope that only that node can open, ' +
  'signed as bundles are. Without GSLB_API_KEY only GSLB_BUNDLE_TOKEN opens it (else 403). '

const keys = route('POST /bundles/keys', {
  ...sealed,
  summary: 'The keys of signed zones, sealed to the node that asks',
  details: `${envelopeNote}404: this node gives no keys. No such call is in the audit log.`,
  handle: ({ ports: { bundles, auth }, body, caller }) => give(bundles.keys(body), auth, caller),
})

const certificate = route('POST /bundles/certificate', {
  ...sealed,
  summary: 'The certificate of the ACME server, sealed to the node that asks',
  details:
    `${envelopeNote}404: this node has none. A new one reaches nodes one after the other. ` +
    'No such call is in the audit log.',
  handle: ({ ports: { bundles, auth }, body, caller }) =>
    give(bundles.certificate(body), auth, caller),
})

const statusOf = { refused: 400, none: 404, stranger: 403 } as const

const digestForm = /^[0-9a-f]{64}$/

const bundle = route('GET /bundles/{digest}', {
  needs: 'system',
  summary: 'A signed bundle, by its digest',
  details:
    `${tokenNote} It never changes. Accept-Encoding zstd is honoured; Range is, of one range of ` +
    'the file as it is. Too many at once are 503.',
  responses: {
    200: {
      description: 'The file',
      schema: Type.String(),
      contentType: 'application/octet-stream',
      isTagged: true,
    },
    206: {
      description: 'A part of the file',
      schema: Type.String(),
      contentType: 'application/octet-stream',
    },
    304: { description: 'The client has it', schema: null },
  },
  refusals: [416],
  ports: ['bundles'],
  handle: async ({ ports: { bundles }, params: { digest }, request }) => {
    const entityTag = `"${digest}"`
    const headers = {
      etag: entityTag,
      'cache-control': 'private, max-age=31536000, immutable',
      vary: 'accept-encoding',
    }
    // Checked, since it becomes the name of a file.
    if (!digestForm.test(digest)) return missing('bundle')
    const isPlain = request.header('range') !== undefined
    const takesPacked = !isPlain && takesCoding(request.header('accept-encoding'), 'zstd')
    const packed = takesPacked ? await bundles.openPacked(digest) : undefined
    const file = packed ?? bundles.open(digest)
    if (file === undefined) return missing('bundle')
    if (file === 'busy') return busy
    if (request.header('if-none-match') === entityTag) {
      file.close()
      return { status: 304, headers }
    }
    if (packed !== undefined) {
      const more = { 'content-encoding': 'zstd', 'content-length': String(file.bytes) }
      return success(file.read(0, file.bytes - 1), { ...headers, ...more })
    }
    return sent(file, request, headers)
  },
})

const delta = route('GET /bundles/deltas/{digest}/{from}', {
  needs: 'system',
  summary: 'What makes a bundle of another one that a node has',
  details:
    `${tokenNote} 404 where there is nothing to be gained, or this node has not both: ask for ` +
    'the whole bundle.',
  responses: {
    200: {
      description: 'The delta',
      schema: Type.String(),
      contentType: 'application/octet-stream',
    },
  },
  ports: ['bundles'],
  handle: async ({ ports: { bundles }, params: { digest, from } }) => {
    const areDigests = digestForm.test(digest) && digestForm.test(from) && digest !== from
    const made = areDigests ? await bundles.delta(from, digest) : undefined
    if (made === undefined) return missing('delta')
    return success(made, { 'cache-control': 'private, max-age=31536000, immutable' })
  },
})

function sent(file: OpenBundle, request: RequestFacts, headers: Record<string, string>): Reply {
  const last = file.bytes - 1
  const range = request.header('range')
  const asked = range === undefined ? undefined : rangeOf(range, last)
  if (asked === null) {
    file.close()
    const refusal = refused(416, `the bundle has ${file.bytes} octets`)
    return { ...refusal, headers: { 'content-range': `bytes */${file.bytes}` } }
  }
  if (asked !== undefined) {
    const [start, end] = asked
    const contentRange = `bytes ${start}-${end}/${file.bytes}`
    const more = { 'content-range': contentRange, 'content-length': String(end - start + 1) }
    return { status: 206, body: file.read(start, end), headers: { ...headers, ...more } }
  }
  const body = file.read(0, last)
  if (!takesCoding(request.header('accept-encoding'), 'zstd')) {
    const more = { 'accept-ranges': 'bytes', 'content-length': String(file.bytes) }
    return success(body, { ...headers, ...more })
  }
  return success(compressed(body), { ...headers, 'content-encoding': 'zstd' })
}

/** Compresses; a client that disconnects ends the read as well. */
function compressed(body: Readable): Readable {
  return pipeline(body, createZstdCompress(), () => undefined)
}

/**
 * Parses RFC 9110 section 14.1.2.
 *
 * @returns first and last octet; undefined: no range of one part, which is ignored; null: outside
 * of the file
 */
function rangeOf(header: string, last: number): readonly [number, number] | null | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim()) ?? []
  if (from === '' && to === '') return undefined
  if (from === '') return Number(to) === 0 ? null : [Math.max(0, last + 1 - Number(to)), last]
  const start = Number(from)
  const end = to === '' ? last : Math.min(last, Number(to))
  if (start > last) return null
  return end < start ? undefined : [start, end]
}

const notKept = later(
  503,
  'the database is away, or too many nodes tell at once',
  retryAfterSeconds,
)
const busy = later(503, 'too many nodes ask at once; ask again later', retryAfterSeconds)

export const bundleRoutes = Object.freeze([
  ...[channel, tell, health, journal, keys, certificate, bundle, delta],
])
