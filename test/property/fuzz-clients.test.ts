// Hostile client subnets at services of every kind: each message is answered as it must be, and a
// scope never says more than the option it answers.
import { describe, expect, test } from 'vitest'
import { plainRouting } from '#bundle/format/model.ts'
import type { BundleModel } from '#bundle/format/model.ts'
import { Random } from '#lib/random.ts'
import { asnPreferences } from '#routing/geo/asn-rules.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import { routingSettingsOf } from '#routing/choose/environment.ts'
import { AsnTable } from '#routing/geo/geo-tables.ts'
import { packNetworks } from '#routing/tables/network-index.ts'
import { answer } from '#answer/answer.ts'
import { Counters } from '#answer/counters/counters.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Transaction, Transport } from '#answer/transaction.ts'
import { bareModel, bundleOf, member, pool, service, zone } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { laneCount } from '#test/support/lane.ts'
import { countFrom, testSeed } from '#test/support/random.ts'
import { asnRule, geoBuffersOf } from '#test/support/routing-site.ts'
import { complaintAbout } from '../fuzz/targets/dns-message.ts'
import { mutated } from '../fuzz/targets/mutator.ts'

/** Messages. A night's run: GSLB_FUZZ_COUNT=1000000, with a GSLB_SEED of its own. */
const count = countFrom('GSLB_FUZZ_COUNT', laneCount(40_000))
const seed = testSeed

const algorithms = ['round-robin', 'geo-ip', 'map-file', 'asn', 'latency', 'failover']
const chains = [
  ['geo-ip', 'sticky', 'round-robin'],
  ['map-file', 'geo-ip', 'weighted-round-robin'],
  ['asn', 'signal-weight', 'sticky-weighted'],
  ['latency'],
]
const regions = ['DE', 'continent:EU', 'JP', 'unknown']
const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8:ffff::1']
const members = addresses.map((address, i) => member(address, { region: regions[i]!, priority: i }))
/** Each /16 of 10.0.0.0/8 another list. */
const rules = {
  v4: Array.from({ length: 256 }, (_, i) => ({
    start: 0x0a00_0000 + i * 0x1_0000,
    end: 0x0a00_ffff + i * 0x1_0000,
    endpoints: [addresses[i % 3]!],
  })),
  v6: [{ start: 0x2001_0db8n << 96n, end: (0x2001_0db9n << 96n) - 1n, endpoints: [addresses[3]!] }],
}

const model: BundleModel = {
  ...bareModel,
  zones: [zone('test.')],
  pools: [pool(1, members), pool(2, members, { geoRules: rules })],
  services: [
    ...algorithms.map((algorithm, i) => service(i, `a${i}.test.`, { algorithm, answerCount: 2 })),
    ...chains.map((filterChain, i) => service(20 + i, `c${i}.test.`, { filterChain, pool: 1 })),
  ],
  routing: {
    ...plainRouting,
    mapRules: rules,
    asnRules: [asnRule(addresses[1]!, { asn: 64_500 })],
    endpointLocations: [{ endpoint: addresses[0]!, lat: 50, lon: 8 }],
    signals: { weight: 0.5, static: { DE: 1, JP: 2 } },
  },
}

function newTransaction(): Transaction {
  const bundle = bundleOf(model)
  const geo = geoBuffersOf({
    countries: [
      ['10.0.0.0/9', 'DE'],
      ['2001:db8::/33', 'JP'],
    ],
    operators: [['10.0.0.0/10', 64_500, 'Example Net']],
    places: [['10.128.0.0/9', 48.9, 2.4]],
  })
  const asn = asnPreferences(new AsnTable(geo.asn!), routingSettingsOf(bundle).asnRules)
  const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }
  const tx = new Transaction(settings, 1, new Counters(new SharedArrayBuffer(Counters.bytes)))
  tx.adopt(
    createServingView({
      number: 1,
      bundle: bundle.bytes,
      digest: bundle.digest,
      routing: createRoutingState(bundle, 1).buffers,
      tables: { geo, asn, networks: packNetworks(bundle) },
    }),
  )
  return tx
}

/** Subnets as they should be, and as they should not: too long, too short, of no family. */
const subnets: readonly (readonly [family: number, bits: number, octets: readonly number[]])[] = [
  [1, 24, [10, 1, 2]],
  [1, 32, [10, 200, 255, 255]],
  [1, 0, []],
  [1, 33, [10, 1, 2, 3, 4]],
  [1, 24, [10, 1, 2, 3]],
  [1, 20, [10, 1, 0xff]],
  [2, 56, [0x20, 1, 0x0d, 0xb8, 0xff, 0xff, 0xff]],
  [2, 128, [0x20, 1, 0x0d, 0xb8, ...Array<number>(12).fill(0xff)]],
  [2, 120, [...Array<number>(10).fill(0), 0xff, 0xff, 10, 1, 2]],
  [2, 129, Array<number>(17).fill(0x20)],
  [3, 24, [1, 2, 3]],
  [0, 0, []],
]

function seeds(): Buffer[] {
  const names = model.services.map(({ domain }) => domain)
  return names.flatMap((name) =>
    subnets.map(([family, bits, octets]) => {
      const option = [0, 8, 0, 4 + octets.length, 0, family, bits, 0, ...octets]
      const opt = [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, option.length, ...option]
      const message = Buffer.concat([query(name), Buffer.from(opt)])
      message.writeUInt16BE(1, 10)
      return message
    }),
  )
}

describe('services that look at the client', () => {
  test('answer mutated subnets as they must', { timeout: 240_000 + count * 4 }, () => {
    const tx = newTransaction()
    const random = new Random(seed)
    const honest = seeds()
    const slot = new Uint8Array(65_535)
    const faults: string[] = []
    let scoped = 0
    for (let i = 0; i < count && faults.length < 5; i++) {
      const bytes = i < honest.length ? honest[i]! : mutated(honest, random)
      tx.transport = i % 2 === 0 ? Transport.Udp : Transport.Tcp
      slot.set(bytes)
      const room = tx.transport === Transport.Tcp ? slot.length : 1_232
      const length = answer(tx, slot, 0, bytes.length, slot, 0, room)
      const reply = length === 0 ? undefined : Buffer.from(slot.subarray(0, length))
      const complaint = complaintAbout(bytes, reply, tx.transport === Transport.Tcp)
      if (complaint !== undefined) faults.push(`${complaint}: ${bytes.toString('hex')}`)
      if (length === 0 || tx.ecsScope === 0) continue
      scoped++
      const bitsMax = tx.ecsFamily === 1 ? 32 : 128
      if (tx.ecsScope > bitsMax) faults.push(`scope ${tx.ecsScope}: ${bytes.toString('hex')}`)
      if (tx.ecsAddressBytes < 0) faults.push(`a scope unasked: ${bytes.toString('hex')}`)
    }
    expect(faults).toEqual([])
    // Messages that are all refused would prove nothing.
    expect(scoped).toBeGreaterThan(count / 100)
  })
})
