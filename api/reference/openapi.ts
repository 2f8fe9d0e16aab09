// Generates the OpenAPI 3.1 document from the table of routes.
import type { TSchema } from '#lib/schema/type.ts'
import { version } from '#lib/version.ts'
import { patchTypes } from '#http/body.ts'
import { sessionCookie } from '#access/credentials.ts'
import { DryRun } from '#http/dry-run.ts'
import { apiLimits } from '#http/limits.ts'
import { EffectWanted, OverrideReason, Subject } from '#http/write-headers.ts'
import { paramNames } from '#api/route/route.ts'
import type { Needs } from '#access/admit/admit.ts'
import type { Route } from '#api/route/route.ts'
import { ConflictBody, ErrorBody } from '#http/shapes.ts'
import {
  answerHeaders,
  entityTag,
  isConfigWrite,
  refusalHeaders,
  takesDryRun,
} from '#api/route/answer-headers.ts'
import { curlSampleOf } from './curl-sample.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

type Json = Readonly<Record<string, unknown>>

export function openApiOf(routes: readonly Route[]): Json {
  const paths = [...Map.groupBy(routes, ({ path }) => path)].map(([path, rows]) => [
    path,
    Object.fromEntries(rows.map((row) => [row.method.toLowerCase(), operationOf(row)])),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: 'gslbd',
      version,
      description:
        'Every refusal is `{"error": "…"}`; that of a 400 names the field. Every answer has an ' +
        '`X-Request-Id`, which the commit and the audit log have, too. A 503 with ' +
        '`Retry-After` says, among others, that the configuration has not been read yet, as ' +
        'for seconds after a start: nothing is known then of what there is, and is not. ' +
        'Writes of the configuration take `?dryRun=true`; those of anything else, such as ' +
        'users, roles, sessions, signals and the licence, refuse it with 400. A PATCH is a ' +
        'merge patch (RFC 7396): what it leaves out stays, null removes.',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: Object.fromEntries(paths) as Json,
    components: {
      schemas: { Error: ErrorBody, Conflict: ConflictBody },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Key or token of a session' },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie,
          description: 'With `auth.sessionExtend` each answer sets it anew, by `Set-Cookie`',
        },
      },
    },
  }
}

function operationOf(row: Route): Json {
  const { tag, summary, needs, body, licensed } = row
  return {
    operationId: operationId(row),
    tags: [tag],
    summary,
    description: descriptionOf(row),
    security: needs === 'public' ? [] : [{ bearer: [] }, { cookie: [] }],
    'x-permission': needs,
    ...(licensed === undefined ? {} : { 'x-licensed-feature': licensed }),
    parameters: [...pathParameters(row), ...queryParameters(row), ...headerParameters(row)],
    ...(body === undefined ? {} : { requestBody: requestBodyOf(row) }),
    responses: { ...successes(row), ...refusals(row) },
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: curlSampleOf(row) }],
  }
}

function requestBodyOf(row: Route): Json {
  const description = `JSON in UTF-8, at most ${bodyBytesMaxOf(row)} octets`
  const schema = row.shownBody ?? row.body
  const types = row.method === 'PATCH' ? patchTypes : ['application/json']
  const content = Object.fromEntries(types.map((type) => [type, { schema }]))
  return { required: true, description, content }
}

function bodyBytesMaxOf({ bodyBytesMax }: Route): number {
  return bodyBytesMax ?? apiLimits.bodyBytesMax
}

/** Turns `GET /api/v1/pools/{id}/members` into `getPoolsByIdMembers`. */
export function operationId({ method, path }: Route): string {
  const words = path.replace(/^\/api\/v1/, '').split(/[/._-]+/)
  const named = words.map((word) => {
    const param = /^\{(\w+)\}$/.exec(word)?.[1]
    return param === undefined ? capital(word) : `By${capital(param)}`
  })
  return method.toLowerCase() + named.join('')
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

/** Says who may call the route, and what else it does. */
function descriptionOf({ needs, details }: Route): string {
  return details === undefined ? needsSentence(needs) : `${needsSentence(needs)} ${details}`
}

function needsSentence(needs: Needs): string {
  if (needs === 'public') return 'Needs no credential.'
  if (needs === 'any') return 'Needs any valid credential.'
  if (needs === 'session') return 'Needs the session of a user.'
  if (needs === 'system') return 'For system administrators.'
  return `Needs the permission \`${needs}\`.`
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
}

function pathParameters({ path, params }: Route): Json[] {
  const { properties = {} } = (params ?? {}) as ObjectSchema
  return paramNames(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: properties[name],
  }))
}

function queryParameters(row: Route): Json[] {
  const query = row.query ?? (takesDryRun(row) ? DryRun : {})
  const { properties = {}, required = [] } = query as ObjectSchema
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function headerParameters(row: Route): Json[] {
  const { ifMatch } = row
  const ofState =
    `Entity tags of ${ifMatch}, from an \`ETag\`, or \`*\` for any state. ` +
    `Where none is that of ${ifMatch} as it is now, nothing is done (412).`
  return [
    ...(ifMatch === undefined ? [] : [headerParameter('If-Match', ofState, entityTag)]),
    ...(isConfigWrite(row) ? [headerParameter('X-Gslb-Override', ofOverride, OverrideReason)] : []),
    ...(takesDryRun(row)
      ? [
          headerParameter('X-Gslb-Subject', ofSubject, Subject),
          headerParameter('X-Gslb-Effect', ofEffect, EffectWanted),
        ]
      : []),
  ]
}

const ofSubject =
  'Subject of the commit, in your words and in UTF-8; without it, what the change is. Where the ' +
  'commit has changes of others, too, it is the trailer `Gslb-Subject`.'

const ofEffect =
  '`wanted`: the answer says in its `X-Gslb-Effect` what the change does to answers. That takes ' +
  'some time, and the time of a dry run where more than a few names are to be compared. Without ' +
  'it, or with `unwanted`, only a dry run says so.'

const ofOverride =
  'Why more may change within ten minutes than `guardrails` of the settings permits; without ' +
  'it that is a 409 which says what would be done. For system administrators; the reason is ' +
  'kept in the commit as the trailer `Gslb-Override`.'

function headerParameter(name: string, description: string, schema: object): Json {
  return { name, in: 'header', required: false, description, schema }
}

function successes(row: Route): Json {
  return Object.fromEntries(
    Object.entries(row.responses).map(([status, response]) => {
      const { description, schema, contentType } = response
      const [type = ''] = (contentType ?? 'application/json').split(';')
      const headers = answerHeaders(row, Number(status), response)
      const content = schema === null ? {} : { content: { [type]: { schema } } }
      return [status, { description, ...headers, ...content }]
    }),
  )
}

/** Statuses of all refusals of a route, in order. */
function refusalsOf(row: Route): readonly number[] {
  const { needs, body, query, path, ifMatch, refusals: own = [] } = row
  const isOfOne = path.includes('{')
  const all = new Set<number>(own)
  if (body !== undefined || query !== undefined || isOfOne) all.add(400)
  if (isOfOne) all.add(404)
  if (takesDryRun(row)) all.add(409)
  if (ifMatch !== undefined) all.add(412)
  if (body !== undefined) all.add(413).add(415)
  if (needs !== 'public') all.add(401)
  if (needs !== 'public' && needs !== 'any') all.add(403)
  if (row.method !== 'GET') all.add(403)
  all.add(500).add(503)
  return [...all].toSorted((a, b) => a - b)
}

function refusalDescription(row: Route, status: number): string {
  if (status === 409 && isConfigWrite(row)) return configConflict
  if (status === 413) return `The body is larger than ${bodyBytesMaxOf(row)} octets`
  if (status === 415) return 'The body is not JSON, not in UTF-8, or compressed'
  return STATUS_CODES[status] ?? 'Refused'
}

const configConflict =
  'Conflict: with what is there, with a commit that is held, or with the guardrails, unless ' +
  '`X-Gslb-Override` has the reason'

function refusals(row: Route): Json {
  return Object.fromEntries(
    refusalsOf(row).map((status) => [
      status,
      {
        description: refusalDescription(row, status),
        ...refusalHeaders(status),
        content: { 'application/json': { schema: refusalSchema(row, status) } },
      },
    ]),
  )
}

function refusalSchema(row: Route, status: number): Json {
  const own = row.refusalBodies?.[status]
  if (own !== undefined) return own as unknown as Json
  const isConflict = status === 409 && isConfigWrite(row)
  return { $ref: `#/components/schemas/${isConflict ? 'Conflict' : 'Error'}` }
}
