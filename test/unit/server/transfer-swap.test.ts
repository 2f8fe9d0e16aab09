// A transfer that is read slowly, while the node goes on. RFC 5936 section 2.2.
import { expect, test } from 'vitest'
import { adoptBundle } from '#bundle/load/load.ts'
import type { ServingView } from '#answer/serving-view.ts'
import { soaRecord, zoneNames, zoneRecords } from '#zones/transfer/zone-records.ts'
import type { ZoneRecord } from '#zones/transfer/zone-records.ts'
import { nodesPerTurn, transferLimits } from '#zones/transfer/limits.ts'
import { Transfers } from '#zones/transfer/transfers.ts'
import type { RunningTransfer } from '#zones/transfer/transfers.ts'
import { ZoneSource } from '#zones/transfer/zone-source.ts'
import { ZoneSources } from '#zones/transfer/zone-sources.ts'
import { encodeBundle } from '#bundle/encode/encode.ts'
import { HeaderOffset } from '#dns/header.ts'
import { formatName } from '#dns/name.ts'
import { RrType } from '#dns/rrtype.ts'
import { query } from '#test/support/dns/message.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { laneCount } from '#test/support/lane.ts'

const zoneText = (letter: string): string =>
  [
    '@ 60 IN SOA ns root 1 2 3 4 5',
    '@ 60 NS ns.example.net.',
    ...Array.from({ length: 400 }, (_, i) => `n${i} 60 TXT ${letter.repeat(200)}`),
    '',
  ].join('\n')

/** In memory that is written over later. */
function viewOf(letter: string, serial: number): ServingView {
  const model = modelOf({ name: 'example.com.', text: zoneText(letter) })
  const { bytes, digest } = encodeBundle(model, () => -1)
  const bundle = adoptBundle(bytes, digest)
  const state = { soaSerial: Uint32Array.of(serial) }
  return { bundle, dynamic: undefined, state } as unknown as ServingView
}

const message = query('example.com. AXFR')
const request = {
  ...{ message, qtype: RrType.AXFR, isTcp: true, questionEnd: message.length, qclass: 1, zone: 0 },
  ...{ client: Uint8Array.of(192, 0, 2, 1), key: null, opt: new Uint8Array(0) },
}
const settings = { enabled: true, requireTsig: false, allow: [] }
const into = new Uint8Array(65_535)

test('shows one generation from its first message to its last, and messages stay small', () => {
  const sources = new ZoneSources()
  const first = viewOf('a', 7)
  sources.adopt(first)
  const transfers = new Transfers(settings, () => 0)
  const running = transfers.start(sources.current(), request)
  if (typeof running === 'number') return expect.unreachable()
  const texts: string[] = []
  let messages = 0
  for (let length; (length = running.write(into, into.length)) > 0;) {
    expect(length).toBeLessThan(17_000)
    texts.push(Buffer.from(into.subarray(0, length)).toString('latin1'))
    messages++
    if (messages !== 1) continue
    sources.adopt(viewOf('b', 8))
    // Another generation takes the memory.
    first.bundle.bytes.fill(0xff)
  }
  running.end()
  expect(messages).toBeGreaterThan(3)
  expect(texts.join('').match(/a{200}/g)).toHaveLength(400)
  expect(texts.join('')).not.toMatch(/b{200}/)
  const records = texts.map((text) =>
    Buffer.from(text, 'latin1').readUInt16BE(HeaderOffset.AnCount),
  )
  expect(records.reduce((sum, count) => sum + count, 0)).toBe(403)
})

test('a query after the serial rose gets the new one', () => {
  const sources = new ZoneSources()
  const view = viewOf('a', 7)
  sources.adopt(view)
  const before = sources.current()!
  view.state.soaSerial[0] = 8
  const serialOf = ({ rdata }: ZoneRecord): number =>
    Buffer.from(rdata).readUInt32BE(rdata.length - 20)
  const after = sources.current()!
  expect([before, after].map((source) => serialOf(soaRecord(source, 0)))).toEqual([7, 8])
  expect([...zoneRecords(after, 0)]).toHaveLength(403)
})

test('ten transfers of a client and fifty of all run at once; one that ends makes room', () => {
  const sources = new ZoneSources()
  sources.adopt(viewOf('a', 7))
  const transfers = new Transfers(settings, () => 0)
  const start = (host: number) =>
    transfers.start(sources.current(), { ...request, client: Uint8Array.of(192, 0, 2, host) })
  const refused = 5
  const running = Array.from({ length: 60 }, (_, i) => start(Math.floor(i / 12)))
  expect(running.filter((one) => one === refused)).toHaveLength(10)
  expect(start(99)).toBe(refused)
  const [one] = running
  if (typeof one === 'number' || one === undefined) return expect.unreachable()
  one.end()
  expect(start(99)).not.toBe(refused)
})

test('a transfer that takes longer than a quarter of an hour is cut off', () => {
  const sources = new ZoneSources()
  sources.adopt(viewOf('a', 7))
  let nowMs = 0
  const running = new Transfers(settings, () => nowMs).start(sources.current(), request)
  if (typeof running === 'number') return expect.unreachable()
  expect(running.write(into, into.length)).toBeGreaterThan(0)
  nowMs = 15 * 60_000 + 1
  expect(running.write(into, into.length)).toBe(-1)
})

/** Reads on until it is over. @returns its octets, or -1 where it was cut off */
function readOn(running: RunningTransfer): string | -1 {
  let text = ''
  for (let length; (length = running.write(into, into.length)) !== 0;) {
    if (length === -1) return -1
    if (length > 0) text += Buffer.from(into.subarray(0, length)).toString('latin1')
  }
  running.end()
  return text
}

function startIn(sources: ZoneSources, transfers: Transfers): RunningTransfer {
  const running = transfers.start(sources.current(), request)
  if (typeof running === 'number') return expect.unreachable()
  expect(running.write(into, into.length)).toBeGreaterThan(0)
  return running
}

test('transfers of one configuration read one copy of it, whatever their serials are', () => {
  const sources = new ZoneSources()
  const transfers = new Transfers(settings, () => 0)
  const first = viewOf('a', 1)
  const { length } = first.bundle.bytes
  sources.adopt(first)
  const running = [startIn(sources, transfers)]
  for (const serial of [2, 3, 4]) {
    first.state.soaSerial[0] = serial
    running.push(startIn(sources, transfers))
  }
  // Published again in other memory, as with another table: what serves needs no copy.
  sources.adopt(viewOf('a', 4))
  first.bundle.bytes.fill(0xff)
  expect(sources.kept()).toEqual({ bundles: 0, bytes: 0 })
  sources.adopt(viewOf('b', 5))
  expect(sources.kept()).toEqual({ bundles: 1, bytes: length })
  sources.adopt(viewOf('c', 6))
  expect(sources.kept()).toEqual({ bundles: 1, bytes: length })
  for (const one of running) expect(readOn(one)).toMatch(/a{200}/)
  sources.adopt(viewOf('d', 7))
  expect(sources.kept()).toEqual({ bundles: 0, bytes: 0 })
})

test('with more older configurations than are kept, the oldest transfer ends', () => {
  const sources = new ZoneSources({ ...transferLimits, olderBundlesMax: 2 })
  const transfers = new Transfers(settings, () => 0)
  const running = ['a', 'b', 'c'].map((letter, i) => {
    sources.adopt(viewOf(letter, i))
    return startIn(sources, transfers)
  })
  sources.adopt(viewOf('d', 3))
  expect(sources.kept().bundles).toBe(2)
  const [oldest, ...others] = running
  expect(readOn(oldest!)).toBe(-1)
  expect(transfers.counts.ended).toBe(1)
  expect(others.map((one) => (readOn(one) === -1 ? 'ended' : 'whole'))).toEqual(['whole', 'whole'])
})

test('a zone among a hundred thousand names of others is looked for in short turns', () => {
  const count = laneCount(100_000, 10_000)
  const names = Array.from({ length: count }, (_, i) => `n${i} 60 A 192.0.2.1`)
  const soa = '@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n'
  const large = modelOf({ name: 'example.com.', text: `${soa}${names.join('\n')}\n` })
  const small = modelOf({ name: 'example.net.', text: `${soa}last 60 A 192.0.2.9\n` })
  const model = {
    ...large,
    zones: [...small.zones, ...large.zones],
    rrsets: [...small.rrsets, ...large.rrsets.map((rrset) => ({ ...rrset, zone: 1 }))],
  }
  const { bytes, digest } = encodeBundle(model, () => -1)
  const bundle = adoptBundle(bytes, digest)
  const source = new ZoneSource(bundle, undefined, 1)
  const zone = zoneNames(bundle).findIndex((name) => formatName(name) === 'example.net.')
  let turns = 0
  let shown = 0
  for (const step of zoneRecords(source, zone)) {
    if (step === null) turns++
    else shown++
  }
  expect(shown).toBe(4)
  expect(turns).toBe(Math.floor(names.length / nodesPerTurn))
})
