// Which answers of the API are compressed, for whom, and what stays as it is.
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { apiLimits } from '#http/limits.ts'
import { createApp } from '#api/server/app.ts'
import { contentTypes } from '#metrics/text/form.ts'
import { plainView, portsOf } from '#test/support/api-ports.ts'

const { bytesMin, bytesInProgressMax } = apiLimits.compression
const long = 'gslbd_ü 1\n'.repeat(bytesMin)
const longBytes = Buffer.byteLength(long)

function scene(text = async () => long) {
  const metrics = async () => ({ type: contentTypes.prometheus, text: await text() })
  const app = createApp(portsOf({ view: { ...plainView, metrics } }), [])
  const ask = (url: string, headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url, headers })
  return { app, ask }
}

const takesGzip = { 'accept-encoding': 'gzip, deflate, br' }

test('an answer is compressed for who takes gzip, and is the same text', async () => {
  const { headers, rawPayload } = await scene().ask('/metrics', takesGzip)
  expect(headers).toMatchObject({
    ...{ 'content-encoding': 'gzip', vary: 'Accept-Encoding', 'cache-control': 'no-store' },
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'content-length': String(rawPayload.length),
  })
  expect(gunzipSync(rawPayload).toString()).toBe(long)
  expect(rawPayload.length).toBeLessThan(longBytes / 10)
})

test('HEAD has the headers of GET, and no body', async () => {
  const { ask } = scene()
  const { headers: ofGet } = await ask('/metrics', takesGzip)
  const { headers, rawPayload } = await ask('/metrics', takesGzip, 'HEAD')
  const named = ['content-encoding', 'content-length', 'content-type', 'vary']
  expect(named.map((name) => headers[name])).toEqual(named.map((name) => ofGet[name]))
  expect(rawPayload.length).toBe(0)
})

describe('sent as it is', () => {
  test.each([
    ['nothing', {}],
    ['gzip;q=0', { 'accept-encoding': 'gzip;q=0' }],
    ['gzip ; q = 0.00', { 'accept-encoding': 'br, gzip ; q = 0.00' }],
    ['br alone', { 'accept-encoding': 'br' }],
    ['xgzip', { 'accept-encoding': 'xgzip' }],
    ['a page of another site', { ...takesGzip, 'sec-fetch-site': 'cross-site' }],
    ['a page of a sibling', { ...takesGzip, 'sec-fetch-site': 'same-site' }],
  ] as const)('to who says %s', async (_name, headers) => {
    const answer = await scene().ask('/metrics', headers)
    expect(answer.headers['content-encoding']).toBe(undefined)
    expect(answer.payload).toBe(long)
  })

  test.each([
    ['GZIP', { 'accept-encoding': 'GZIP' }],
    ['gzip;q=0.5', { 'accept-encoding': 'gzip;q=0.5' }],
    ['our own page', { ...takesGzip, 'sec-fetch-site': 'same-origin' }],
    ['an address that was typed', { ...takesGzip, 'sec-fetch-site': 'none' }],
  ] as const)('but not to who says %s', async (_name, headers) => {
    const answer = await scene().ask('/metrics', headers)
    expect(answer.headers['content-encoding']).toBe('gzip')
  })

  test('below a size', async () => {
    const short = async (bytes: number) => {
      const { headers } = await scene(async () => 'x'.repeat(bytes)).ask('/metrics', takesGzip)
      return [headers['content-encoding'], headers.vary]
    }
    expect(await short(bytesMin - 1)).toEqual([undefined, 'Accept-Encoding'])
    expect(await short(bytesMin)).toEqual(['gzip', 'Accept-Encoding'])
  })

  test('a refusal, which repeats what was asked', async () => {
    const answer = await scene().ask(`/metrics?${'x'.repeat(bytesMin)}=1`, takesGzip)
    expect(answer.statusCode).toBe(400)
    expect(answer.headers['content-encoding']).toBe(undefined)
  })

  test('an answer to a write', async () => {
    const { app } = scene()
    app.post('/long', async () => long)
    const answer = await app.inject({ method: 'POST', url: '/long', headers: takesGzip })
    expect([answer.headers['content-encoding'], answer.payload]).toEqual([undefined, long])
  })

  test('a response with an entity tag for caches', async () => {
    const { app } = scene()
    const kept = { 'cache-control': 'public, max-age=15', etag: '"3f2a"' }
    app.get('/kept', async (_request, reply) => reply.headers(kept).send(long))
    const { headers, payload } = await app.inject({ url: '/kept', headers: takesGzip })
    expect([headers['content-encoding'], payload]).toEqual([undefined, long])
  })

  test('a response beyond the total in progress, until there is room again', async () => {
    const half = 'x'.repeat(bytesInProgressMax / 2)
    const { promise, resolve } = Promise.withResolvers<string>()
    const { ask } = scene(() => promise)
    const all = [1, 2, 3].map(() => ask('/metrics', takesGzip))
    resolve(half)
    const answers = await Promise.all(all)
    const codings = answers.map(({ headers }) => headers['content-encoding'])
    expect(codings).toEqual(['gzip', 'gzip', undefined])
    expect(answers[2]!.payload.length).toBe(half.length)
    expect((await ask('/metrics', takesGzip)).headers['content-encoding']).toBe('gzip')
  })
})

test('the document of the API is compressed once, and no second time', async () => {
  const { headers, rawPayload } = await scene().ask('/api/v1/openapi.json', takesGzip)
  expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
  expect(JSON.parse(gunzipSync(rawPayload).toString())).toHaveProperty('openapi')
})
