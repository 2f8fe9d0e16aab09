// Names below name servers at which zones tell the keys of others: made once for all threads, and
// what is too much is said.
import { expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { signalNamesMax } from '#answer/signing/signal-names.ts'
import { SignalTable } from '#server/signing/signal-table.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { signedModel, signedName } from '#test/support/dns/signed-zone.ts'

const server = `ns1.${signedName}`

/** @param count zones with that name server, in a zone that tells their keys */
function modelOf(count: number): BundleModel {
  const model = signedModel(13, [], 'ns1 300 A 127.0.0.1\n')
  const names = Array.from({ length: count }, (_, i) => `z${i}.test.`)
  const nameservers = [{ name: server, addresses: [] }]
  const zones = names.map((name) => ({ ...model.zones[0]!, name, nameservers }))
  const [first, ...rest] = model.zones
  return {
    ...model,
    zones: [{ ...first!, hasSignals: true }, ...rest, ...zones],
  }
}

function world() {
  const said: unknown[] = []
  const log = { info: () => {}, error: () => {}, warn: (fields: object) => void said.push(fields) }
  return { said, signals: new SignalTable(log) }
}

test('they are made once for the records of a bundle and the zones that have keys', () => {
  const { said, signals } = world()
  const bundle = bundleOf(modelOf(3))
  const first = signals.of(bundle, new Set([0, 1, 2]))
  expect(first).toBeInstanceOf(SharedArrayBuffer)
  // Other keys of the same zones, or TXT records that come and go beside the bundle.
  expect(signals.of({ ...bundle }, new Set([0, 1, 2]))).toBe(first)
  expect(signals.of(bundle, new Set([1, 2]))).toBeNull()
  expect(signals.of(bundle, new Set([0, 1, 2]))).toEqual(first)
  expect(said).toEqual([])
})

test('more than there may be are said once', () => {
  const { said, signals } = world()
  const bundle = bundleOf(modelOf(10_010))
  const rows = new Set(Array.from({ length: bundle.counts.zones }, (_, row) => row))
  signals.of(bundle, rows)
  signals.of(bundle, rows)
  const leftOut = expect.any(Number) as number
  expect(said).toEqual([{ leftOut, most: signalNamesMax }])
})
