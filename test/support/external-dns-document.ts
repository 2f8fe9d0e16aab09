// What the published OpenAPI document of external-dns' webhook protocol says (api/webhook.yaml of
// kubernetes-sigs/external-dns, version 0.14.0 to 0.21.0): its paths, statuses and bodies.
import { Ajv } from 'ajv'
import { expect } from 'vitest'

export const mediaType = 'application/external.dns.webhook+json;version=1'

const text = { type: 'string' }
const endpoint = {
  type: 'object',
  properties: {
    dnsName: text,
    targets: { type: 'array', items: text },
    recordType: text,
    setIdentifier: text,
    recordTTL: { type: 'integer' },
    labels: { type: 'object', additionalProperties: text },
    providerSpecific: {
      type: 'array',
      items: { type: 'object', properties: { name: text, value: text } },
    },
  },
}
const endpoints = { type: 'array', items: endpoint }
/** Versions before 0.17 write other names than their document. */
const changes = {
  type: 'object',
  patternProperties: {
    '^(create|updateOld|updateNew|delete)$': endpoints,
    '^(Create|UpdateOld|UpdateNew|Delete)$': { anyOf: [endpoints, { type: 'null' }] },
  },
  additionalProperties: false,
}
const filters = {
  type: 'object',
  properties: { filters: { type: 'array', items: text } },
  required: ['filters'],
}

interface Said {
  readonly request?: object
  readonly status: number
  readonly response?: object
}

const paths: Readonly<Record<string, Said>> = {
  'GET /': { status: 200, response: filters },
  'GET /records': { status: 200, response: endpoints },
  'POST /records': { request: changes, status: 204 },
  'POST /adjustendpoints': { request: endpoints, status: 200, response: endpoints },
}

const ajv = new Ajv()

/** Expects that a request and its answer are as the document has them; refusals have any body. */
export function expectToFit(
  method: string,
  path: string,
  body: unknown,
  answer: {
    readonly statusCode: number
    readonly payload: string
    readonly headers: Readonly<Record<string, unknown>>
  },
): void {
  const said = paths[`${method} ${path}`] ?? expect.fail(`the document has no ${method} ${path}`)
  if (said.request !== undefined)
    expect([ajv.validate(said.request, body), ajv.errors]).toEqual([true, null])
  if (answer.statusCode >= 400) return
  expect(answer.statusCode).toBe(said.status)
  if (said.response === undefined) return expect(answer.payload).toBe('')
  expect(answer.headers['content-type']).toBe(mediaType)
  const value: unknown = JSON.parse(answer.payload)
  expect([ajv.validate(said.response, value), ajv.errors]).toEqual([true, null])
}
