// Requests that are odd or hostile: what they are answered, and that the next one is answered, too.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import { RedirectCounters } from '#server/redirect/counters.ts'
import { RedirectListener } from '#server/redirect/listener.ts'
import { bundleOf, smallModel } from '#test/support/bundle-models.ts'
import { cpuMsOf } from '#test/support/cpu-time.ts'
import { laneCount } from '#test/support/lane.ts'
import { rawHttp } from '#test/support/raw-http.ts'
import { redirect } from '#test/support/redirects.ts'
import { anyText } from '#test/support/any-text.ts'

const directory = join(import.meta.dirname, '../../../fuzz/corpus/redirect-request')
const corpus = readdirSync(directory)
const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const good = 'GET /x HTTP/1.1\r\nHost: old.example\r\nConnection: close\r\n\r\n'
let listener: RedirectListener
let port = 0

beforeAll(async () => {
  listener = new RedirectListener({
    settings: {
      listenAddr: '127.0.0.1',
      port: 0,
      idleTimeoutMs: 200,
      requestTimeoutMs: 200,
      maxConnections: 100,
      maxPerClient: 100,
      accessLog: undefined,
      https: { port: undefined, certificates: {} },
    },
    counters: new RedirectCounters(new SharedArrayBuffer(RedirectCounters.bytes)),
    clock: systemClock,
    log,
  })
  const columns = bundleOf({
    ...smallModel,
    redirects: [redirect(1, 'old.example', 'https://new.example')],
  })
  listener.adopt({ number: 1, columns, hits: new SharedArrayBuffer(8) })
  const started = await listener.start()
  if (!started.ok) throw new Error(started.error)
  port = started.value.port
})
afterAll(() => listener.stop())

/**
 * A busy machine may send a request too late for its 200 ms, which gives a 408; it is then
 * repeated.
 */
const nextIsAnswered = (): Promise<void> =>
  expect.poll(async () => (await rawHttp(port, [good])).statuses).toEqual([301])

test('a long line of raw octets takes time that grows with its length, and no faster', async () => {
  const line = `GET /${'\x80'.repeat(60_000)} x\r\n\r\n`
  // Some milliseconds; with the square of the length it was seconds.
  expect(await cpuMsOf(() => rawHttp(port, [line]))).toBeLessThan(1_000)
  await nextIsAnswered()
})

test.each(corpus)('%s', async (name) => {
  const { text, statuses } = await rawHttp(port, [readFileSync(join(directory, name), 'latin1')])
  expect(statuses).toEqual([Number(name.split('.').at(-1))])
  for (const [, location] of text.matchAll(/^Location: (.*)\r$/gm)) {
    expect(location).toMatch(/^https:\/\/new\.example(\/[!-~]*)?$/)
  }
  await nextIsAnswered()
})

test('the connection ends after any input, and the next one is answered', async () => {
  const piece = fc.oneof(
    fc.constantFrom(...corpus.map((name) => readFileSync(join(directory, name), 'latin1'))),
    anyText({ maxLength: 40 }),
    fc.constantFrom('GET ', '/', ' HTTP/1.1\r\n', 'Host: ', 'old.example', '\r\n', '\r\n\r\n', ':'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      await rawHttp(port, [pieces.join('')])
      await nextIsAnswered()
    }),
    { numRuns: laneCount(200, 8) },
  )
})
