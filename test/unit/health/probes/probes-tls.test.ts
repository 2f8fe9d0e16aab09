import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, describe, expect, test } from 'vitest'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import type { ProbeResult } from '#health/probes/probe.ts'
import { startHttpBackend, testCertificate } from '../../../support/backend.ts'
import type { Certificate } from '../../../support/backend.ts'
import { probeTarget } from '../check.ts'
import { testProbes } from '../probe-table.ts'
import { use } from '#test/support/used-backend.ts'

const { probes } = testProbes()

const named = testCertificate('named')
const addressed = testCertificate('addressed')
const unknown = testCertificate('unknown')

// Before the first probe: all share one TLS context, which takes the authorities as they are then.
beforeAll(() => {
  setDefaultCACertificates([...getCACertificates('bundled'), named.cert, addressed.cert])
})

function probe(check: Partial<HealthCheckModel>, ipAddress?: string): Promise<ProbeResult> {
  const target = probeTarget('m1', check, ipAddress)
  return new Promise((resolve) => probes[target.check.type].run(target, resolve))
}

const http = (port: number, given: Partial<HealthCheckModel> = {}): Partial<HealthCheckModel> => ({
  type: 'http',
  port,
  ...given,
})

describe('http over TLS', () => {
  const rows: [string, () => Certificate, Partial<HealthCheckModel>, string, string][] = [
    [
      'verifies httpHost and sends it as SNI',
      () => named,
      { httpHost: 'www.example.com' },
      '',
      'www.example.com',
    ],
    [
      'leaves port and final dot out of SNI',
      () => named,
      { httpHost: 'www.example.com.:8443' },
      '',
      'www.example.com',
    ],
    ['verifies the address and sends no SNI', () => addressed, {}, '', ''],
    ['verifies an httpHost that is an address', () => addressed, { httpHost: '127.0.0.1' }, '', ''],
    [
      'refuses a certificate for another name',
      () => named,
      { httpHost: 'api.example.com' },
      'the certificate is for another name',
      '',
    ],
    ['refuses a name for an address', () => named, {}, 'the certificate is for another name', ''],
    [
      'refuses an address for a name',
      () => addressed,
      { httpHost: 'www.example.com' },
      'the certificate is for another name',
      '',
    ],
    ['refuses an unknown authority', () => unknown, {}, 'the certificate is self-signed', ''],
    ['skips all of that when told to', () => unknown, { insecureSkipVerify: true }, '', ''],
    [
      'still sends SNI when told to skip',
      () => unknown,
      { insecureSkipVerify: true, httpHost: 'x.example' },
      '',
      'x.example',
    ],
  ]
  test.each(rows)('%s', async (_name, certificate, check, reason, sni) => {
    const backend = await use(startHttpBackend({ certificate: certificate() }))
    const result = await probe(http(backend.port, { tls: true, ...check }))
    expect([result.outcome, result.reason]).toEqual([reason === '' ? 'success' : 'failure', reason])
    // A backend with a wrong certificate never sees the request.
    expect(backend.requests.map((request) => request.sni)).toEqual(reason === '' ? [sni] : [])
    expect(result.rttMs).toBeGreaterThan(0)
  })

  test('names a backend that does not speak TLS', async () => {
    const backend = await use(startHttpBackend())
    const result = await probe(http(backend.port, { tls: true }))
    expect([result.outcome, result.reason]).toEqual(['failure', 'the backend does not speak TLS'])
  })
})
