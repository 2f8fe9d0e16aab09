// Tests the reports of a pulling node: their content, their receiver, and busy receivers.
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import type { ChannelRecord } from '#bundle/signature/channel.ts'
import { Puller } from '#fleet/puller.ts'
import type { PullerParts } from '#fleet/puller.ts'
import { readNodeReport } from '#fleet/nodes/node-report.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { Sources } from '#fleet/sources.ts'
import { fleetLimits } from '#fleet/limits.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { acceptableRecord } from '#server/node/verify-bundle.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { openSource, recordPath, signedRecord } from '#test/support/bundle-source.ts'
import type { Behaviour, BundleSource } from '#test/support/bundle-source.ts'
import { reportOf } from '#test/support/node-reports.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const opened: { close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close()
})

const key = newSigningKey()
const digest = 'a'.repeat(64)
const record = signedRecord(key, { digest })

async function source(): Promise<BundleSource> {
  const made = await openSource()
  opened.push(made)
  return made
}

interface Told {
  readonly tag: string | null
  readonly report: NodeReport
}

/** A control node: what it was told is in `told`, and how it was asked in `asked`. */
const controlNode = (
  told: Told[],
  asked: string[],
  { post = 200, sent = record }: { post?: number; sent?: object } = {},
): Behaviour =>
  async function answer(request, response) {
    const { method = '', url = '', headers } = request
    asked.push(`${method} ${url.split('?')[1] ?? ''}`.trim())
    response.setHeader('accept-post', 'application/json')
    response.setHeader('etag', '"one"')
    if (method === 'GET') {
      response.statusCode = headers['if-none-match'] === '"one"' ? 304 : 200
      return void response.end(response.statusCode === 304 ? undefined : JSON.stringify(sent))
    }
    const body = JSON.parse(await text(request)) as Told
    told.push(body)
    response.statusCode = post === 200 && body.tag === '"one"' ? 204 : post
    response.end(response.statusCode === 200 ? JSON.stringify(sent) : undefined)
  }

function follow(urls: readonly string[], parts: Partial<PullerParts> = {}): Puller {
  let active: ChannelRecord | undefined
  const puller = new Puller({
    urls,
    channel: 'main',
    token: 'secret',
    pollMs: 5,
    judge: (signed) => acceptableRecord(signed, { trusted: [key], store: null }, active),
    isServing: ({ seq }) => active?.seq === seq,
    stored: () => new Uint8Array(1),
    activate: async ({ signedRecord: { record: next } }) => {
      active = next
      return ok('activated')
    },
    report: (pulled) =>
      reportOf('far-1', { seq: active?.seq ?? 0, digest: active?.digest ?? null, ...pulled }),
    clock: systemClock,
    after: systemAfter,
    random: new Random(1),
    log: silentLog,
    limits: { waitSeconds: 1, headPatienceMs: 2_000, rest: { firstMs: 5, mostMs: 10 } },
    ...parts,
  })
  puller.start()
  opened.push({ close: () => puller.stop() })
  return puller
}

test('a control node is told with each question after the first, and of the stop', async () => {
  const one = await source()
  const [told, asked]: [Told[], string[]] = [[], []]
  one.files.set(recordPath, controlNode(told, asked))
  const puller = follow([one.url])
  await waitUntil('two reports', () => told.length >= 2)
  expect(asked.slice(0, 2)).toEqual(['GET', 'POST wait=1'])
  expect(told[0]).toMatchObject({ tag: '"one"', report: { seq: 1, digest, isLeaving: false } })
  expect(readNodeReport(told[0]!.report).ok).toBe(true)
  await puller.stop()
  expect(told.at(-1)!.report.isLeaving).toBe(true)
})

test('a web server that shows files is told nothing', async () => {
  const one = await source()
  one.files.set(recordPath, JSON.stringify(record))
  const methods = new Set<string>()
  one.files.set(recordPath, ({ method = '' }, response) => {
    methods.add(method)
    response.setHeader('etag', '"one"')
    response.end(JSON.stringify(record))
  })
  const puller = follow([one.url])
  await waitUntil('some questions', () => (puller.status().pulls['unchanged'] ?? 0) > 2)
  await puller.stop()
  expect([...methods]).toEqual(['GET'])
})

test.each([405, 413, 400])(
  'where something in front refuses a report with %i, the node asks on without',
  async (post) => {
    const one = await source()
    const [told, asked]: [Told[], string[]] = [[], []]
    one.files.set(recordPath, controlNode(told, asked, { post }))
    const puller = follow([one.url])
    await waitUntil('questions', () => (puller.status().pulls['unchanged'] ?? 0) > 3)
    expect(told).toHaveLength(1)
    expect(asked.slice(0, 4)).toEqual(['GET', 'POST wait=1', 'GET wait=1', 'GET wait=1'])
    expect(puller.status().sources[0]!.fault).toBe(null)
  },
)

test('a refusal is reported until a source is of use again', async () => {
  const one = await source()
  const [told, asked]: [Told[], string[]] = [[], []]
  const bad = err({ code: 'bad-bundle', message: 'the bundle is damaged' })
  let verdict: 'bad' | 'good' = 'bad'
  one.files.set(recordPath, controlNode(told, asked))
  follow([one.url], {
    activate: async () => (verdict === 'bad' ? bad : ok('activated')),
    stored: () => undefined,
  })
  one.files.set(`/bundles/${digest}`, 'x')
  await waitUntil('a report', () => told.length > 1)
  expect(told[1]!.report).toMatchObject({ isRefusing: true })
  expect(told[1]!.report.refusals.map(({ atMs: _, ...refusal }) => refusal)).toEqual([
    { digest, code: 'bad-bundle', reason: 'the bundle is damaged' },
  ])
  verdict = 'good'
  await waitUntil('the end of it', () => !told.at(-1)!.report.isRefusing)
  expect(told.at(-1)!.report.refusals).toHaveLength(1)
})

test('a source that has too many is asked later, without a wait, and is not at fault', async () => {
  const one = await source()
  const asked: string[] = []
  one.files.set(recordPath, ({ url = '' }, response) => {
    asked.push(url.split('?')[1] ?? '')
    response.setHeader('etag', '"one"')
    if (!url.includes('wait')) return void response.end(JSON.stringify(record))
    response.writeHead(503, { 'retry-after': '0' }).end()
  })
  const puller = follow([one.url])
  await waitUntil('it to be busy', () => (puller.status().pulls['busy'] ?? 0) > 0)
  await waitUntil('questions', () => (puller.status().pulls['unchanged'] ?? 0) > 3)
  expect(asked.slice(0, 4)).toEqual(['', 'wait=1', '', ''])
  expect(puller.status().sources[0]!.fault).toBe(null)
})

test('nodes that are told to come back later come back apart', () => {
  const restMs = 5_000
  const at = Array.from({ length: 1_000 }, (_, seed) => {
    const sources = new Sources(['http://a'], fleetLimits.rest, new Random(seed))
    sources.busy(sources.all[0]!, restMs, 0)
    return sources.restMs(0)
  })
  expect(Math.min(...at)).toBeGreaterThanOrEqual(restMs)
  expect(Math.max(...at)).toBeLessThanOrEqual(2 * restMs)
  const perSecond = Array.from(
    { length: 5 },
    (_, second) => at.filter((ms) => Math.floor((ms - restMs) / 1000) === second).length,
  )
  expect(Math.min(...perSecond)).toBeGreaterThan(100)
})
