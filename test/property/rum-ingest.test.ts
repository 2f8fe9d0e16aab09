// Bodies of a beacon: nobody made them but a page, and a page may send anything.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { apiLimits } from '#http/limits.ts'
import { RumHeader } from '#routing/rum/table.ts'
import { measured, rumScene, unmeasured } from '#test/support/rum-scene.ts'

const { samplesMax, bodyBytesMax } = apiLimits.rum

let clients = 0
/** Each of another network, so that no bucket is empty and each run is seen by itself. */
const newClient = (): string => `10.${clients >> 8}.${clients++ & 255}.1`

const ip = fc.oneof(
  { arbitrary: fc.constantFrom(...measured, '2001:DB8::0:2'), weight: 3 },
  fc.constantFrom(unmeasured, '198.51.100.1', '::ffff:192.0.2.1', '192.0.2.01', '192.0.2.1 ', 'x'),
  fc.ipV4(),
  fc.ipV6(),
)
const latencyMs = fc.oneof(
  fc.double({ min: -10, max: 70_000, noNaN: true }),
  fc.constantFrom(0, -0, 5e-324, 60_000, 60_000.000001, -1e308, 1e308),
)
const sample = fc.record({ ip, latencyMs })
const domain = fc.oneof(
  { arbitrary: fc.constantFrom('www.example.org', 'WWW.example.ORG.'), weight: 3 },
  fc.constantFrom('example.org', 'www.example.com', '..', '\0'),
)
const body = fc.record({ domain, samples: fc.array(sample, { maxLength: samplesMax + 2 }) })

/** The table of errors, row by row. */
function counts(name: string, { ip: address, latencyMs: ms }: { ip: string; latencyMs: number }) {
  const isMember = (measured as readonly string[]).includes(address.toLowerCase())
  const isOtherForm = address === '2001:DB8::0:2'
  const isDomain = /^www\.example\.org\.?$/i.test(name)
  return isDomain && (isMember || isOtherForm) && ms > 0 && ms <= 60_000
}

test('samples count by the rules of ingestion and by nothing else', async () => {
  const { post, store } = rumScene()
  const property = fc.asyncProperty(body, async ({ domain: name, samples }) => {
    const before = store.status()
    const text = JSON.stringify({ domain: name, samples })
    const answer = await post(text, { remoteAddress: newClient() })
    const isFitting = samples.length > 0 && samples.length <= samplesMax
    const good = isFitting ? samples.filter((one) => counts(name, one)) : []
    // One sample a member counts, so that a request cannot replace an average.
    const members = new Set(good.map((one) => one.ip === measured[0]))
    const accepted = members.size
    if (!isFitting) expect(answer.statusCode).toBe(400)
    else expect(answer.json()).toEqual({ accepted, rejected: samples.length - accepted })
    const after = store.status()
    expect(after.measurements - before.measurements).toBe(accepted)
    expect(after.subnets - before.subnets).toBe(Math.min(accepted, 1))
  })
  await fc.assert(property, { numRuns: 1_000 })
})

test('any post of a page is answered, and an invalid sample leaves no trace', async () => {
  const { post, store } = rumScene()
  const anything = fc.oneof(
    fc.json().map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets)),
    fc.integer({ min: 1, max: bodyBytesMax }).map((depth) => Buffer.from('['.repeat(depth))),
    fc.tuple(body, fc.nat(), fc.nat(255)).map(([value, at, octet]) => {
      const octets = Buffer.from(JSON.stringify({ ...value, domain: 'www.example.com' }))
      octets[at % octets.length] = octet
      return octets
    }),
  )
  const property = fc.asyncProperty(anything, async (payload) => {
    const answer = await post(payload, { remoteAddress: newClient() })
    expect([200, 400]).toContain(answer.statusCode)
    const { error } = answer.json<{ error?: string }>()
    expect(typeof error).toBe(answer.statusCode === 200 ? 'undefined' : 'string')
  })
  await fc.assert(property, { numRuns: 1_000 })
  expect(new Int32Array(store.buffer)[RumHeader.Count]).toBe(0)
})
