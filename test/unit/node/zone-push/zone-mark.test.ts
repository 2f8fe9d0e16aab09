// Which changes of a configuration and of written records are changes of a zone that is pushed.
import assert from 'node:assert/strict'
import { describe, expect, test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { RrType } from '#dns/rrtype.ts'
import { createZoneMark } from '#node/zone-push/zone-mark.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'
import { WrittenRecords } from '#zones/dynamic/written-records.ts'
import { compile, records, zone, zonesOf } from '../../compiler/record-files.ts'

const zones = zonesOf(`${zone('example.com.')}, ${zone('example.org.')}`)

function bundleWith(own: string, other: string): Bundle {
  const a = (address: string): string => `{ name: www, type: A, values: [${address}] }`
  const result = compile(zones, records([a(own)]), records([a(other)], 'other', 'example.org.'))
  assert(result.ok)
  const loaded = loadBundle(result.bundle.bytes)
  assert(loaded.ok)
  return loaded.value
}

let ids = 0
const record = (name: string): StoredRecord => ({
  ...{ id: String(ids++), tenantId: 't', name, type: RrType.A, rdata: 'wAACAQ==' },
  ...{ ttlSeconds: 60, createdAtMs: 0, writtenBy: '' },
})

function world() {
  const now = { bundle: bundleWith('192.0.2.1', '192.0.2.2') }
  const written = new WrittenRecords()
  const mark = createZoneMark({
    ...{ zone: 'example.com.', hasServices: true, bundle: () => now.bundle, written },
  })
  const write = (added: readonly StoredRecord[], removed: readonly string[] = []): void => {
    written.change({ revision: written.revision + 1, added, removed })
  }
  return { now, mark, write }
}

test('a commit marks the zones that it changes', () => {
  const { now, mark } = world()
  const before = mark()
  now.bundle = bundleWith('192.0.2.1', '192.0.2.99')
  expect(mark()).toBe(before)
  now.bundle = bundleWith('192.0.2.99', '192.0.2.99')
  expect(mark()).not.toBe(before)
})

describe('records that are written at run time', () => {
  test.each([
    ['x.example.com.', true],
    ['example.com.', true],
    ['x.example.org.', false],
    ['notexample.com.', false],
  ])('at %s: %s', (name, isOwn) => {
    const { mark, write } = world()
    const before = mark()
    write([record(name)])
    expect(mark() !== before).toBe(isOwn)
  })

  test('mark the zone each time that one comes, goes, or takes the place of another', () => {
    const { mark, write } = world()
    const marks = [mark()]
    const [a, b, c] = ['a', 'b', 'c'].map((label) => record(`${label}.example.com.`))
    const steps: readonly [StoredRecord[], string[]][] = [
      [[a!, b!], []],
      [[c!], [a!.id]],
      [[record('a.example.com.')], [b!.id]],
      [[record('a.example.com.')], []],
      [[], [c!.id]],
    ]
    for (const [added, removed] of steps) {
      write(added, removed)
      marks.push(mark())
    }
    expect(new Set(marks).size).toBe(steps.length + 1)
  })
})
