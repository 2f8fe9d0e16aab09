// Whatever is sent to the listener for external-dns, it is answered, and what it shows of an
// endpoint is one form.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readEndpoint, wireOf } from '#external-dns/endpoint.ts'
import { laneCount } from '#test/support/lane.ts'
import { mediaType } from '#test/support/external-dns-document.ts'
import { startExternalDnsWorld } from '#test/support/external-dns-world.ts'
import type { ExternalDnsWorld } from '#test/support/external-dns-world.ts'
import { testSeed } from '#test/support/random.ts'

let site: ExternalDnsWorld
beforeAll(async () => {
  site = await startExternalDnsWorld()
})
afterAll(() => site.close())

const text = fc.oneof(
  fc.constantFrom('www.acme.example', 'acme.example', '*.acme.example', '192.0.2.1', '"a" "b"', ''),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const type = fc.constantFrom('A', 'AAAA', 'CNAME', 'MX', 'NAPTR', 'NS', 'PTR', 'SRV', 'TXT', 'a')
const property = fc.record({
  name: fc.constantFrom('gslbd/weight', 'webhook/gslbd-region', 'gslbd/health-check', 'alias'),
  value: text,
})
const endpoint = fc.record(
  {
    dnsName: text,
    recordType: fc.oneof(type, text),
    targets: fc.option(fc.array(text, { maxLength: 3 })),
    setIdentifier: text,
    recordTTL: fc.oneof(fc.nat(), fc.double()),
    labels: fc.option(fc.dictionary(fc.constantFrom('owner', 'ownedRecord'), text)),
    providerSpecific: fc.option(fc.array(property, { maxLength: 3 })),
  },
  { requiredKeys: ['dnsName', 'recordType'] },
)
const list = fc.option(fc.array(endpoint, { maxLength: 3 }))
const changes = fc.record(
  { create: list, Delete: list, updateOld: list, updateNew: list },
  { requiredKeys: [] },
)
const runs = { seed: testSeed, numRuns: laneCount(300) }

test('no body is too strange for a refusal that says what is wrong', async () => {
  const bodies = fc.oneof(changes, list, fc.jsonValue())
  await fc.assert(
    fc.asyncProperty(bodies, fc.constantFrom('/records', '/adjustendpoints'), async (body, url) => {
      const { statusCode, payload } = await site.app.inject({
        ...{ method: 'POST', url, headers: { 'content-type': mediaType } },
        payload: JSON.stringify(body),
      })
      expect(statusCode).toBeLessThan(500)
      if (statusCode >= 400)
        expect(JSON.parse(payload)).toEqual({ error: expect.any(String) as string })
    }),
    runs,
  )
})

test('an endpoint that was read is shown as it is read again', () => {
  fc.assert(
    fc.property(endpoint, (wire) => {
      const read = readEndpoint(wire)
      if (read.ok) expect(readEndpoint(wireOf(read.value))).toEqual(read)
    }),
    runs,
  )
})
