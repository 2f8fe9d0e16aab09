import { describe, expect, test } from 'vitest'
import { createClient } from '#clients/typescript/client.ts'
import { waitMsOf } from '#clients/typescript/retries.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import type { Given, StandIn } from '#test/support/http-stand-in.ts'

const pools = '/api/v1/pools'
const busy: Given = { status: 503, body: { error: 'wait' }, headers: { 'retry-after': '0' } }
const fine: Given = { status: 200, body: [] }

/** Gives the answers in turn, the last one for ever. */
function inTurn(answers: readonly Given[]): Promise<StandIn> {
  let count = 0
  return startStandIn(() => answers[Math.min(count++, answers.length - 1)]!)
}

describe('how long is waited', () => {
  const date = 'Mon, 30 Nov 2026 10:00:00 GMT'
  test.each<[title: string, headers: Record<string, string>, sent: number, ms: number]>([
    ['seconds', { 'retry-after': '3' }, 1, 3_000],
    ['no time', { 'retry-after': '0' }, 4, 0],
    [
      "a date, by the server's clock",
      { 'retry-after': 'Mon, 30 Nov 2026 10:00:07 GMT', date },
      1,
      7_000,
    ],
    ['a date that is over', { 'retry-after': 'Mon, 30 Nov 2026 09:00:00 GMT', date }, 1, 0],
    ['a date without a clock to read it by', { 'retry-after': date }, 1, 250],
    ['nothing that can be read', { 'retry-after': 'soon', date }, 2, 500],
    ['a negative number', { 'retry-after': '-5' }, 1, 250],
    ['nothing', {}, 3, 1_000],
  ])('%s', (_title, headers, sent, ms) => {
    expect(waitMsOf(new Headers(headers), sent, 0)).toBe(ms)
    const latest = waitMsOf(new Headers(headers), sent, 1)
    expect(latest).toBeCloseTo(ms * 1.2, 6)
  })
})

describe('a request that is refused for now', () => {
  test.each(['get', 'put', 'patch', 'delete'] as const)('by %s is sent again', async (method) => {
    const { url, asked } = await inTurn([busy, { ...busy, status: 429 }, fine])
    const path = '/api/v1/pools/{id}'
    const given = { params: { id: 'x' }, body: { name: 'x' } }
    const { [method]: call } = createClient({ baseUrl: url })
    const sent = {
      ...given,
      ...(method === 'get' || method === 'delete' ? { body: undefined } : {}),
    }
    await (call as (path: string, given: object) => Promise<unknown>)(path, sent)
    expect(asked.map((one) => one.method)).toEqual(Array(3).fill(method.toUpperCase()))
    expect(asked[2]?.body).toEqual(sent.body)
  })

  test('by post is sent again only when that is said to do no harm', async () => {
    const { url, asked } = await inTurn([busy, fine])
    const client = createClient({ baseUrl: url })
    const body = { name: 'x' }
    await expect(client.post(pools, { body })).rejects.toThrow('wait')
    expect(asked).toHaveLength(1)
    await client.post(pools, { body, isRepeatable: true })
    expect(asked).toHaveLength(2)
  })

  test('is given up after so many tries, with the last refusal', async () => {
    const { url, asked } = await inTurn([busy])
    const client = createClient({ baseUrl: url, retries: { tries: 3 } })
    await expect(client.get(pools)).rejects.toMatchObject({ status: 503, message: 'wait' })
    expect(asked).toHaveLength(3)
  })

  test('is given to the caller when the wait is long', async () => {
    const { url, asked } = await inTurn([{ ...busy, headers: { 'retry-after': '31' } }])
    await expect(createClient({ baseUrl: url }).get(pools)).rejects.toThrow('wait')
    expect(asked).toHaveLength(1)
  })

  test('stops waiting at once when it is called off', async () => {
    const { url, asked } = await inTurn([{ ...busy, headers: { 'retry-after': '20' } }])
    const controller = new AbortController()
    const reading = createClient({ baseUrl: url }).get(pools, { signal: controller.signal })
    await expect.poll(() => asked.length).toBe(1)
    controller.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    expect(asked).toHaveLength(1)
  })
})

test.each([400, 401, 404, 409, 500, 502])('a %d is not repeated', async (status) => {
  const { url, asked } = await inTurn([{ ...busy, status }])
  await expect(createClient({ baseUrl: url }).get(pools)).rejects.toMatchObject({ status })
  expect(asked).toHaveLength(1)
})

test('a page of something in between is an error that says so', async () => {
  const { url } = await inTurn([{ status: 502, body: '<h1>Bad gateway</h1>' }])
  const error = createClient({ baseUrl: url }).get(pools)
  await expect(error).rejects.toThrow('the answer is 502 without a reason: something between')
})
