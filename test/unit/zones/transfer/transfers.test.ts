// Why a secondary that asks for changes gets the whole zone, as counters and the log say it.
import { expect, test } from 'vitest'
import type { ServingView } from '#answer/serving-view.ts'
import { RrType } from '#dns/rrtype.ts'
import { historyLimits, transferLimits } from '#zones/transfer/limits.ts'
import { TransferHistory } from '#zones/transfer/transfer-history.ts'
import { Transfers } from '#zones/transfer/transfers.ts'
import { ZoneSources } from '#zones/transfer/zone-sources.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { a } from '#test/support/dns/record.ts'

const viewOf = (serial: number, names: readonly string[]): ServingView => {
  const lines = names.map((name) => `${name} 60 A 192.0.2.1\n`).join('')
  const text = `@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n${lines}`
  const bundle = bundleOf(modelOf({ name: 'example.com.', text }))
  return { bundle, state: { soaSerial: Uint32Array.of(serial) } } as unknown as ServingView
}

test('unknown, old and large ones are told apart', () => {
  const history = new TransferHistory(() => 0, { ...historyLimits, changesMax: 1 })
  const sources = new ZoneSources(transferLimits, history)
  const told: object[] = []
  const settings = { enabled: true, requireTsig: false, allow: [] }
  const log = { debug: (fields: object) => void told.push(fields) }
  const transfers = new Transfers(settings, () => 0, { history, log })
  const ask = (client: number, have: number): void => {
    const authority = [a(`example.com. 0 IN SOA . . ${have} 0 0 0 0`)]
    const running = transfers.start(sources.current(), {
      ...{ message: query('example.com. IXFR', { authority }), key: null, qtype: RrType.IXFR },
      ...{ questionEnd: query('example.com. IXFR').length, qclass: 1, isTcp: true, zone: 0 },
      ...{ client: Uint8Array.of(192, 0, 2, client), opt: new Uint8Array(0) },
    })
    if (typeof running === 'number') return expect.unreachable()
    const into = new Uint8Array(65_535)
    while (running.write(into, into.length) !== 0);
    running.end()
  }
  sources.adopt(viewOf(1, ['a']))
  ask(1, 0)
  ask(2, 0)
  sources.adopt(viewOf(2, ['b']))
  ask(1, 1)
  // Another address has it from elsewhere.
  ask(3, 1)
  sources.adopt(viewOf(3, ['c']))
  ask(2, 1)
  ask(1, 2)
  sources.adopt(
    viewOf(
      4,
      Array.from({ length: 50 }, (_, i) => `n${i}`),
    ),
  )
  ask(1, 3)
  const zone = 'example.com.'
  expect(told).toEqual([
    { zone, serial: 0, reason: 'unknown' },
    { zone, serial: 0, reason: 'unknown' },
    { zone, serial: 1, reason: 'unknown' },
    { zone, serial: 1, reason: 'old' },
    { zone, serial: 3, reason: 'large' },
  ])
  const counts = { started: 5, incremental: 2, unknown: 3, old: 1, large: 1, running: 0 }
  expect(transfers.counts).toMatchObject(counts)
})
