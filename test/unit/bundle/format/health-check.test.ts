// Which health checks a node takes from a bundle: only those that it can run.
import { expect, test } from 'vitest'
import { healthCheckText, parseHealthCheck } from '#bundle/format/health-check.ts'
import { healthCheck } from '../../../support/bundle-models.ts'

const check = { ...healthCheck, port: 443, tls: true }

const refused: readonly (readonly [what: string, change: object])[] = [
  ['a type of a later version', { type: 'quic' }],
  ['a port that no socket takes', { port: 65_536 }],
  ['an interval of nothing', { intervalMs: 0 }],
  ['a timeout that no timer takes', { timeoutMs: 2 ** 31 }],
  ['no echo at all', { icmpCount: 0 }],
  ['a score over more probes than are kept', { scoreWindow: 1_001 }],
  ['a method that no webhook has', { webhookMethod: 'PUT' }],
  ['a missing field', { tls: undefined }],
  ['a text for a number', { riseCount: '1' }],
  ['a method that no request has', { httpMethod: 'BREW' }],
  ['header fields that are no texts', { httpHeaders: { a: 1 } }],
  ['a list of header fields', { httpHeaders: ['a'] }],
  ['a status that is no range', { httpExpectedStatuses: [200] }],
  ['a range with three ends', { httpExpectedStatuses: [[200, 201, 202]] }],
  ['a record type that nobody asks for', { dnsType: 'AXFR' }],
  ['a response code that is none', { dnsRcode: 'YES' }],
]

test('a whole check is taken as it is', () => {
  expect(parseHealthCheck(JSON.stringify(check))).toEqual(check)
})

test('fields of later versions hold their defaults where a bundle of before lacks them', () => {
  const text = healthCheckText(check)
  expect(text).not.toContain('dnsName')
  expect(text).not.toContain('httpHeaders')
  expect(parseHealthCheck(text)).toEqual(check)
})

test('fields of later versions that say something are kept', () => {
  const said = {
    ...check,
    httpMethod: 'HEAD',
    httpHeaders: { 'x-probe': 'a' },
    httpExpectedStatuses: [[200, 299]],
    dnsRcode: 'NXDOMAIN',
  } as const
  expect(parseHealthCheck(healthCheckText(said))).toEqual(said)
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
