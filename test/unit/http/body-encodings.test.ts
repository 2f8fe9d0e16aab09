// Tests the accepted encodings of bodies, and their description in the document.
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import { apiLimits } from '#http/limits.ts'
import { openApiOf } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'
import { parseHealthSignal } from '#schemas/health-signal.ts'
import { portsOf } from '../../support/api-ports.ts'

const app = createApp(portsOf({}), [])
const plain = JSON.stringify({ name: 1 })

async function post(headers: Record<string, string>, payload: string | Buffer = plain) {
  const url = '/api/v1/tenants'
  const answer = await app.inject({ method: 'POST', url, headers, payload })
  return { status: answer.statusCode, error: answer.json<{ error: string }>().error }
}

const json = 'application/json'
const refused = [
  ['latin1', { 'content-type': `${json}; charset=latin1` }, /must be in UTF-8.*leave the charset/],
  ['utf-16', { 'content-type': `${json};charset="utf-16"` }, /must be in UTF-8/],
  ['gzip', { 'content-type': json, 'content-encoding': 'gzip' }, /not be compressed: send it with/],
  ['br', { 'content-encoding': 'br' }, /must not be compressed/],
] as const

test.each(refused)(
  'a body that is said to be %s is refused with 415',
  async (_name, headers, why) => {
    const answer = await post(headers)
    expect([answer.status, answer.error]).toEqual([415, expect.stringMatching(why)])
  },
)

test('a body that is compressed is told so, not that it is no text', async () => {
  const answer = await post({ 'content-encoding': 'gzip' }, gzipSync(plain))
  expect([answer.status, answer.error]).toEqual([415, expect.stringContaining('compressed')])
})

test.each([
  { 'content-type': `${json}; charset=utf-8` },
  { 'content-type': `${json}; charset="UTF-8"; x=1` },
  { 'content-type': `${json}; charset=us-ascii` },
  { 'content-type': json, 'content-encoding': 'identity' },
  {},
])('a body with %j is read', async (headers) => {
  // Read, since its field is known to be wrong.
  expect((await post(headers)).error).toMatch(/^name: /)
})

interface Operation {
  readonly responses: Readonly<Record<string, { readonly description: string }>>
  readonly requestBody: {
    readonly description: string
    readonly content: Readonly<Record<string, { readonly schema: SignalSchema }>>
  }
}
interface SignalSchema {
  readonly anyOf: readonly { readonly title: string; readonly examples: readonly object[] }[]
}

const { paths } = JSON.parse(JSON.stringify(openApiOf(routes))) as {
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>
}

test.each([
  ['/api/v1/tenants', apiLimits.bodyBytesMax],
  ['/api/v1/rum/ingest', apiLimits.rum.bodyBytesMax],
])('the document says how large a body of %s may be', (path, bytes) => {
  const { requestBody, responses } = paths[path]!.post
  expect(requestBody.description).toContain(`at most ${bytes} octets`)
  expect(responses['413']?.description).toBe(`The body is larger than ${bytes} octets`)
})

test.each(['/api/v1/tenants', '/api/v1/pools'])('POST %s says that it may be 503', (path) => {
  expect(Object.keys(paths[path]!.post.responses)).toEqual(expect.arrayContaining(['409', '503']))
})

const { anyOf: signals } =
  paths['/api/v1/members/{id}/health-signal']!.post.requestBody.content[json]!.schema

test.each(signals)('the example of a health signal $title is one', ({ title, examples }) => {
  const format = /^format=(\w+)$/.exec(title)?.[1] ?? null
  for (const example of examples) expect(parseHealthSignal(format, example).ok).toBe(true)
})

test('the document shows a body for each form of a health signal', () => {
  const titles = ['without format', 'format=generic', 'format=vendor_a', 'format=vendor_b']
  expect(signals.map(({ title }) => title)).toEqual(titles)
})
