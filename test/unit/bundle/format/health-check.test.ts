// Which health checks a node takes from a bundle: only those that it can run.
import { expect, test } from 'vitest'
import { parseHealthCheck } from '#bundle/format/health-check.ts'
import { healthCheck } from '../../../support/bundle-models.ts'

const check = { ...healthCheck, port: 443, tls: true }

const refused: readonly (readonly [what: string, change: object])[] = [
  ['a type of a later version', { type: 'grpc' }],
  ['a port that no socket takes', { port: 65_536 }],
  ['an interval of nothing', { intervalMs: 0 }],
  ['a timeout that no timer takes', { timeoutMs: 2 ** 31 }],
  ['no echo at all', { icmpCount: 0 }],
  ['a score over more probes than are kept', { scoreWindow: 1_001 }],
  ['a method that no webhook has', { webhookMethod: 'PUT' }],
  ['a missing field', { tls: undefined }],
  ['a text for a number', { riseCount: '1' }],
]

test('a whole check is taken as it is', () => {
  expect(parseHealthCheck(JSON.stringify(check))).toEqual(check)
})

for (const [what, change] of refused) {
  test(`${what} is refused`, () => {
    expect(parseHealthCheck(JSON.stringify({ ...check, ...change }))).toBeUndefined()
  })
}

for (const text of ['', '{', 'null', '[]', '7']) {
  test(`${JSON.stringify(text)} is no check`, () => {
    expect(parseHealthCheck(text)).toBeUndefined()
  })
}
