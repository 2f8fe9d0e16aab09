import { expect, test } from 'vitest'
import { parseDnsperf } from '#bench/load/dnsperf.ts'

const status = `DNS Performance Testing Tool
Version 2.10.0

[Status] Command line: dnsperf -s 127.0.0.1 -p 5495 -d q.txt -l 1 -v
[Status] Sending queries (to 127.0.0.1:5495)
`
const statistics = `[Status] Testing complete (time limit)

Statistics:

  Queries sent:         1000
  Queries completed:    996 (99.60%)
  Queries lost:         3 (0.30%)
  Queries interrupted:  1 (0.10%)

  Response codes:       NOERROR 990 (99.40%), SERVFAIL 6 (0.60%)
  Average packet size:  request 50, response 66
  Run time (s):         1.992000
  Queries per second:   500.000000

  Average Latency (s):  0.000093 (min 0.000010, max 0.002984)
  Latency StdDev (s):   0.000256
`

test('the statistics of dnsperf become numbers, latencies in milliseconds', () => {
  const parsed = parseDnsperf(status + statistics)
  expect(parsed).toEqual({
    ok: true,
    value: {
      sent: 1000,
      completed: 996,
      lost: 3,
      seconds: 1.992,
      queriesPerSecond: 500,
      byRcode: { NOERROR: 990, SERVFAIL: 6 },
      latencyMs: { mean: 0.093, least: 0.01, most: 2.984 },
      latencies: [],
    },
  })
})

test('a verbose run gives the latency of each answered query, of no other line', () => {
  const lines = [
    '> NOERROR svc0.gslb.example.com A 0.001090',
    '> SERVFAIL svc1.gslb.example.com A 0.000250',
    '> T svc2.gslb.example.com A',
  ]
  const parsed = parseDnsperf(`${status}${lines.join('\n')}\n${statistics}`)
  expect(parsed.ok && parsed.value.latencies).toEqual([1.09, 0.25])
})

test.each([
  ['nothing', ''],
  ['an error', 'Error: unable to bind socket: Address already in use\n'],
  ['a run that was cut off', status],
])('%s has no statistics, and says so', (_, text) => {
  expect(parseDnsperf(text)).toEqual({ ok: false, error: 'its output has no statistics' })
})

test('a run without a single answer has no latency', () => {
  const text = statistics
    .replace('996 (99.60%)', '0 (0.00%)')
    .replace(/ {2}Average Latency[^]*/, '')
    .replace(/Response codes:.*/, 'Response codes:       ')
  const parsed = parseDnsperf(status + text)
  expect(parsed).toMatchObject({ ok: true, value: { completed: 0, byRcode: {} } })
  expect(parsed.ok && parsed.value.latencyMs.mean).toBeNaN()
})
