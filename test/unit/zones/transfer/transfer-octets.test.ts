// What a secondary is sent for one change of a large zone.
import { expect, test } from 'vitest'
import type { ServingView } from '#answer/serving-view.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import { RrType } from '#dns/rrtype.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { transferLimits } from '#zones/transfer/limits.ts'
import { TransferHistory } from '#zones/transfer/transfer-history.ts'
import { Transfers } from '#zones/transfer/transfers.ts'
import { ZoneSources } from '#zones/transfer/zone-sources.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { a } from '#test/support/dns/record.ts'
import { laneCount } from '#test/support/lane.ts'
import { txtRrsets } from '#test/support/txt-records.ts'

const records = laneCount(100_000, 5_000)
const lines = Array.from({ length: records }, (_, i) => `n${i} 60 A 192.0.2.${i % 250}\n`)
const text = `@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n${lines.join('')}`
const bundle = bundleOf(modelOf({ name: 'example.com.', text }))

/** As a certificate's challenge. */
function viewOf(challenge: string, serial: number): ServingView {
  const texts = txtRrsets([['_acme-challenge.www.example.com.', challenge]])
  const { handed } = encodeWritten(texts, bundle)
  const dynamic = adoptBundle(handed!.bytes, handed!.digest)
  const state = { soaSerial: Uint32Array.of(serial) }
  return { bundle, dynamic, state } as unknown as ServingView
}

test.each([false, true])('a TXT change is less than 2 KB; with a digest: %s', (zonemd) => {
  const history = new TransferHistory(() => 0)
  const sources = new ZoneSources(transferLimits, history)
  const settings = { enabled: true, requireTsig: false, allow: [], zonemd }
  const transfers = new Transfers(settings, () => 0, { history })
  const octetsOf = (question: string, parts = {}): number => {
    const message = query(question, parts)
    const questionEnd = query(question).length
    const running = transfers.start(sources.current(), {
      ...{ message, questionEnd, qclass: 1, isTcp: true, key: null, opt: new Uint8Array(0) },
      qtype: question.endsWith('AXFR') ? RrType.AXFR : RrType.IXFR,
      ...{ zone: 0, client: Uint8Array.of(192, 0, 2, 1) },
    })
    if (typeof running === 'number') return expect.unreachable()
    const into = new Uint8Array(65_535)
    let octets = 0
    for (let length; (length = running.write(into, into.length)) !== 0;)
      octets += Math.max(length, 0)
    running.end()
    return octets
  }
  sources.adopt(viewOf('x'.repeat(43), 1))
  expect(octetsOf('example.com. AXFR')).toBeGreaterThan(records * 15)
  sources.adopt(viewOf('y'.repeat(43), 2))
  const authority = [a('example.com. 0 IN SOA . . 1 0 0 0 0')]
  expect(octetsOf('example.com. IXFR', { authority })).toBeLessThan(700)
  expect(transfers.counts).toMatchObject({ started: 1, incremental: 1 })
})
