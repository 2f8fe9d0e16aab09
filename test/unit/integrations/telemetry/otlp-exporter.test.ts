// Sending spans to a collector: what is tried again, what is dropped, and what is logged.
import { expect, test } from 'vitest'
import { telemetryLimits } from '#integrations/telemetry/limits.ts'
import { OtlpExporter } from '#integrations/telemetry/otlp-exporter.ts'
import type { Span } from '#integrations/telemetry/span.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { startStandIn } from '#test/support/http-stand-in.ts'
import type { Given } from '#test/support/http-stand-in.ts'
import { otlpFaults, spansIn } from '#test/support/otlp-checks.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { gatherMs, batchMax, queueMax } = telemetryLimits
const spans = (count: number): Span[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ traceId: 'a'.repeat(32), spanId: (i + 1).toString(16).padStart(16, '0') },
    ...{ parentSpanId: '', name: 'commit', kind: 1, startMs: 1.8e12, endMs: 1.8e12 + 0.25 },
    attributes: { text: 'x'.repeat(1_000), whole: 3, part: 0.5 },
  }))

async function scene(answers: readonly Given[]) {
  const rest = [...answers]
  const collector = await startStandIn(() => rest.shift() ?? { status: 200, body: {} })
  const time = new FakeTime(0)
  const lines: { fields: object; message: string }[] = []
  const note = (fields: object, message: string): void => void lines.push({ fields, message })
  const exporter = new OtlpExporter({
    ...{ url: `${collector.url}/v1/traces`, headers: { 'api-key': 'k' }, timeoutMs: 5_000 },
    ...{ node: 'c1', after: time.after, log: { info: note, warn: note, error: note } },
  })
  const asked = (count: number) =>
    waitUntil(`${count} requests`, async () => collector.asked.length === count)
  const settled = (what: Partial<ReturnType<OtlpExporter['counts']>>) =>
    waitUntil('the counts', async () => {
      const counts = exporter.counts() as unknown as Record<string, number>
      return Object.entries(what).every(([name, value]) => counts[name] === value)
    })
  return { collector, time, lines, exporter, asked, settled }
}

test('spans are gathered, and sent in valid requests of limited size', async () => {
  const { collector, time, exporter, asked, settled } = await scene([])
  exporter.add(spans(batchMax))
  exporter.add(spans(3))
  time.pass(gatherMs - 1)
  expect(collector.asked).toHaveLength(0)
  time.pass(1)
  await settled({ sent: batchMax, waiting: 3 })
  time.pass(gatherMs)
  await asked(2)
  await settled({ sent: batchMax + 3, dropped: 0, refused: 0, waiting: 0 })
  for (const { path, method, headers, body } of collector.asked) {
    expect([method, path, headers['api-key']]).toEqual(['POST', '/v1/traces', 'k'])
    expect(headers['content-type']).toBe('application/json')
    expect(otlpFaults(body)).toEqual([])
  }
  const [first] = spansIn(collector.asked[1]?.body)
  expect(first?.startTimeUnixNano).toBe('1800000000000000000')
  expect(first?.endTimeUnixNano).toBe('1800000000000250000')
  expect(first?.attributes.slice(1)).toEqual([
    { key: 'whole', value: { intValue: '3' } },
    { key: 'part', value: { doubleValue: 0.5 } },
  ])
  await exporter.close()
})

test('a collector that is away is asked again, ever later, and the log says it once', async () => {
  const away = { status: 503, body: 'later' }
  const { time, lines, exporter, asked, settled } = await scene([away, away])
  exporter.add(spans(2))
  time.pass(gatherMs)
  await asked(1)
  await waitUntil('a warning', async () => lines.length === 1)
  time.pass(1_000)
  await asked(2)
  await new Promise((resolve) => setImmediate(resolve))
  await waitUntil('the next try', async () => {
    time.pass(100)
    return exporter.counts().sent === 2
  })
  await settled({ sent: 2, waiting: 0 })
  const words = lines.map(({ message }) => message)
  expect(words).toEqual([
    'traces are not taken; writes and answers go on without them',
    'traces are taken again',
  ])
  expect(JSON.stringify(lines)).not.toContain('api-key')
  await exporter.close()
})

test.each([
  ['a status that is final', { status: 400, body: { message: 'no' } }, { sent: 0, refused: 5 }],
  [
    'a part of them',
    { status: 200, body: { partialSuccess: { rejectedSpans: '2', errorMessage: 'x' } } },
    { sent: 3, refused: 2 },
  ],
  ['a body that is no JSON', { status: 200, body: 'ok' }, { sent: 5, refused: 0 }],
])('%s: %o gives %o', async (_what, answer, counts) => {
  const { time, exporter, settled } = await scene([answer])
  exporter.add(spans(5))
  time.pass(gatherMs)
  await settled({ ...counts, waiting: 0 })
  await exporter.close()
})

test('what there is no room for is dropped and counted', async () => {
  const { exporter } = await scene([])
  exporter.add(spans(queueMax + 7))
  exporter.add(spans(1))
  expect(exporter.counts()).toEqual({ sent: 0, dropped: 8, refused: 0, waiting: queueMax })
  await exporter.close()
  expect(exporter.counts()).toMatchObject({ sent: queueMax, waiting: 0 })
})
