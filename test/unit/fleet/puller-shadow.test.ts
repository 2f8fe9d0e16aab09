// A source names a bundle that the node is to compute with, besides the one that it answers from.
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { Puller } from '#fleet/puller.ts'
import type { PulledShadow } from '#fleet/puller.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { bundlePath } from '#fleet/tree.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { openSource, recordPath, signedRecord } from '#test/support/bundle-source.ts'
import type { Behaviour } from '#test/support/bundle-source.ts'
import { reportOf } from '#test/support/node-reports.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const signed = signedRecord(newSigningKey(), { digest: 'a'.repeat(64) })
const other = 'b'.repeat(64)

/**
 * A node that follows one source, and what it does with the octets of another bundle.
 *
 * @param takes the digest of what they turn out to be; null: they are refused
 */
async function scene(takes: string | null) {
  const one = await openSource()
  onTestFinished(() => one.close())
  const reports: NodeReport[] = []
  let named = ''
  let fetched = 0
  const control = (): Behaviour =>
    async function answer(request, response) {
      response.setHeader('accept-post', 'application/json').setHeader('etag', '"one"')
      if (request.method === 'GET') return void response.end(JSON.stringify(signed))
      reports.push((JSON.parse(await text(request)) as { readonly report: NodeReport }).report)
      if (named !== '') response.setHeader('gslb-shadow', named)
      response.statusCode = 204
      response.end()
    }
  one.files.set(recordPath, control())
  one.files.set(`/${bundlePath(other)}`, (_request, response) => {
    fetched++
    response.end('octets')
  })
  let digest = ''
  const steps: string[] = []
  const shadow: PulledShadow = {
    digest: () => digest,
    begin: (bundle) => {
      steps.push(`begin ${Buffer.from(bundle).toString()}`)
      if (takes === null) return err({ code: 'bad-bundle', message: 'it is damaged' })
      digest = takes
      return ok(null)
    },
    end: () => {
      steps.push('end')
      digest = ''
    },
  }
  const puller = new Puller({
    ...{ urls: [one.url], channel: 'main', token: null, pollMs: 5, shadow },
    judge: () => ok(signed.record),
    isServing: () => true,
    stored: () => undefined,
    activate: async () => ok('activated'),
    report: (pulled) => reportOf('far-1', pulled),
    ...{ clock: systemClock, after: systemAfter, random: new Random(1), log: silentLog },
    limits: { waitSeconds: 1, headPatienceMs: 2_000, rest: { firstMs: 5, mostMs: 10 } },
  })
  puller.start()
  onTestFinished(() => puller.stop())
  const more = async (): Promise<void> => {
    const { length } = reports
    await waitUntil('two more reports', () => reports.length >= length + 2)
  }
  return { steps, reports, more, fetched: () => fetched, name: (next: string) => (named = next) }
}

test('a shadow bundle is fetched once and used until it is no longer named', async () => {
  const { steps, more, name, fetched } = await scene(other)
  await more()
  expect(steps).toEqual([])
  name(other)
  await more()
  await more()
  expect([steps, fetched()]).toEqual([['end', 'begin octets'], 1])
  name('')
  await more()
  expect(steps).toEqual(['end', 'begin octets', 'end'])
})

test.each([
  ['one that is damaged', null, 'bad-bundle'],
  ['another one than was named', 'c'.repeat(64), 'digest-mismatch'],
])('%s is refused, told of, and not asked for again', async (_what, takes, code) => {
  const { reports, more, name, fetched, steps } = await scene(takes)
  name(other)
  await waitUntil('the refusal', () => reports.some(({ refusals }) => refusals.length > 0))
  await more()
  expect(reports.at(-1)!.refusals).toMatchObject([{ digest: other, code }])
  expect(fetched()).toBe(1)
  expect(steps.filter((step) => step.startsWith('begin'))).toEqual(['begin octets'])
})

test('a name that is no digest is nothing', async () => {
  const { steps, more, name } = await scene(other)
  name('../../etc/passwd')
  await more()
  expect(steps).toEqual([])
})
