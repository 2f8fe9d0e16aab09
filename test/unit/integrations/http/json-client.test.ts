// Tests the messages about a server that hangs, fails, or answers with something else.
import { expect, test } from 'vitest'
import { askJson, askLines, retryAfterMs } from '#integrations/http/json-client.ts'
import { freePort } from '#test/support/free-port.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import type { Given } from '#test/support/http-stand-in.ts'

const signal = new AbortController().signal
const headers = { authorization: 'Bearer hush-hush' }

const rows: readonly [what: string, given: Given | 'hang', says: RegExp][] = [
  ['hangs', 'hang', /did not answer within 0\.1 s/],
  ['fails', { status: 500, body: { error: 'no disk' } }, /answered 500 to GET \/x: .*no disk/],
  ['wants other credentials', { status: 401 }, /answered 401 .*look at the credentials/],
  ['answers HTML', { status: 200, body: '<html>\n<b>' }, /no JSON: <html> <b>/],
  ['sends elsewhere', { status: 302, headers: { location: 'http://other/' } }, /answered 302/],
  ['is long-winded', { status: 500, body: 'x'.repeat(100_000) }, /^.{0,300}$/],
]
test.each(rows)('a server that %s', async (_what, given, says) => {
  const { url } = await startStandIn(() => given)
  const patienceMs = given === 'hang' ? 100 : 60_000
  const answer = await askJson({ url: `${url}/x`, method: 'GET', signal, headers }, patienceMs)
  expect(answer.ok ? '' : answer.error).toMatch(says)
  expect(JSON.stringify(answer)).not.toContain('hush')
})

test('lines that do not come are waited for in bounded time', async () => {
  const { url } = await startStandIn(() => 'hang')
  const none = async () => Promise.reject(new Error('there is no line'))
  const answer = await askLines({ url: `${url}/x`, method: 'GET', signal }, 100, none)
  expect(answer.ok ? '' : answer.error).toMatch(/did not answer within 0\.1 s/)
})

test('a server that is not there, and a round that is over', async () => {
  const url = `http://127.0.0.1:${await freePort()}/`
  const away = await askJson({ url, method: 'GET', signal })
  expect(away.ok ? '' : away.error).toMatch(/cannot be asked: ECONNREFUSED/)
  const over = await askJson({ url, method: 'GET', signal: AbortSignal.abort() })
  expect(over.ok ? '' : over.error).toMatch(/took too long/)
})

test('an empty answer is none, and a status that was named is an answer', async () => {
  const { url } = await startStandIn(() => ({ status: 404, headers: { etag: '"v1"' } }))
  const answer = await askJson({ url: `${url}/x`, method: 'GET', signal, statuses: [404] })
  expect(answer).toEqual({ ok: true, value: { status: 404, json: undefined, etag: '"v1"' } })
})

const sent = 'Mon, 30 Nov 2026 12:00:00 GMT'
test.each<[text: string | undefined, date: string | undefined, ms: number | null]>([
  ['120', sent, 120_000],
  ['Mon, 30 Nov 2026 12:01:00 GMT', sent, 60_000],
  ['Mon, 30 Nov 2026 11:59:00 GMT', sent, 0],
  // Without a date of the server, by the clock here.
  ['Mon, 30 Nov 2026 12:01:00 GMT', undefined, 30_000],
  ['-1', sent, null],
  ['1.5', sent, null],
  ['soon', sent, null],
  [undefined, sent, null],
])('Retry-After %s, sent at %s, is a pause of %s ms', (text, date, ms) => {
  const found = { ...(text && { 'retry-after': text }), ...(date && { date }) }
  expect(retryAfterMs(found, Date.parse(sent) + 30_000)).toBe(ms)
})
