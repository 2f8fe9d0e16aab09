// serialBase of a zone: what its SOA record, ZONEVERSION and transfers say.
import { describe, expect, test } from 'vitest'
import { createRoutingState } from '#routing/state/candidates.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { answer } from '#answer/answer.ts'
import { createServingView } from '#answer/serving-view.ts'
import { Transaction } from '#answer/transaction.ts'
import { Counters } from '#answer/counters/counters.ts'
import { serialOf, soaRecord } from '#zones/transfer/zone-records.ts'
import { ZoneSource } from '#zones/transfer/zone-source.ts'
import { bundleOf, soa, zone } from '#test/support/bundle-models.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'

const zoneVersion = 19
const settings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 0 }

describe.each([
  ['nothing', 0, 7, 7],
  ['a date', 2_026_010_199, 7, 2_026_010_206],
  ['the end of all serials', 0xffff_fffe, 7, 5],
  ['the upper half', 0x8000_0000, 1, 0x8000_0001],
])('a zone whose serial begins with %s', (_title, serialBase, serial, expected) => {
  const bundle = bundleOf({
    zones: [zone('other.'), zone('test.', { soa: { ...soa, serialBase } })],
  })
  const state = createRoutingState(bundle, serial)

  function asked(question: string) {
    const counters = new Counters(new SharedArrayBuffer(Counters.bytes))
    const tx = new Transaction({ ...settings, zoneVersion: true }, 1, counters)
    const { bytes, digest } = bundle
    const view = { number: 1, bundle: bytes, digest, dynamic: null, routing: state.buffers }
    tx.adopt(createServingView({ ...view, tables: noRoutingTables }))
    const octets = query(question, {
      opt: { options: [{ code: zoneVersion, data: Buffer.alloc(0) }] },
    })
    const reply = new Uint8Array(1_232)
    const length = answer(tx, octets, 0, octets.length, reply, 0, reply.length)
    return decodeMessage(Buffer.from(reply.subarray(0, length)))
  }

  test('answers it in its SOA record, also of a denial', () => {
    const [record] = asked('test. SOA').answer
    expect(record?.rdataText.split(' ')[2]).toBe(String(expected))
    const [denial] = asked('nothing.test. A').authority
    expect(denial?.rdataText.split(' ')[2]).toBe(String(expected))
    const [other] = asked('other. SOA').answer
    expect(other?.rdataText.split(' ')[2]).toBe(String(serial))
  })

  test('says it as its version (RFC 9660)', () => {
    const found = asked('test. SOA').opt?.options.find(({ code }) => code === zoneVersion)
    expect(Buffer.from(found!.data).readUInt32BE(2)).toBe(expected)
  })

  test('transfers with it', () => {
    const source = new ZoneSource(bundle, undefined, serial)
    const apexes = bundle.zoneNode.length
    const serials = Array.from({ length: apexes }, (_, row) => {
      return serialOf(soaRecord(source, row).rdata)
    })
    expect(serials.sort()).toEqual([serial, expected].sort())
  })
})
