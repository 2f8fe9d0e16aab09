// Which changes of zones are kept for secondaries, and for how long.
import { describe, expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import { formatName } from '#dns/name.ts'
import { encodeWritten } from '#zones/dynamic/written-bundle.ts'
import { historyLimits } from '#zones/transfer/limits.ts'
import { unpackRecords } from '#zones/transfer/packed-records.ts'
import { catalogKey, TransferHistory } from '#zones/transfer/transfer-history.ts'
import type { ZoneChange } from '#zones/transfer/zone-changes.ts'
import { zoneKeyOf } from '#zones/transfer/zone-records.ts'
import type { ZoneContent } from '#zones/transfer/zone-source.ts'
import { bundleOf, pool, service } from '#test/support/bundle-models.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { txtRrsets } from '#test/support/txt-records.ts'

const name = 'example.com.'
const zone = zoneKeyOf(wireName(name))
const soa = '@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n'
const modelWith = (...lines: readonly string[]): BundleModel =>
  modelOf({ name, text: `${soa}${lines.join('\n')}\n` })
const contentOf = (model: BundleModel): ZoneContent => ({
  bundle: bundleOf(model),
  dynamic: undefined,
})
const contentWith = (...lines: readonly string[]): ZoneContent => contentOf(modelWith(...lines))

/** Owners of what is gone and of what is new. */
function ownersOf(changes: readonly ZoneChange[] | string): unknown {
  if (typeof changes === 'string') return changes
  const owners = (packed: Uint8Array): string[] =>
    [...unpackRecords(packed)].map(({ owner }) => formatName(owner).replace(`.${name}`, ''))
  return changes.map(({ removed, added }) => [owners(removed), owners(added)])
}

class Followed {
  nowMs = 0
  readonly history: TransferHistory
  #content: ZoneContent

  constructor(limits: Partial<typeof historyLimits>, first: ZoneContent, key = zone) {
    const now = (): number => this.nowMs
    const catalog = wireName('catalog.')
    this.history = new TransferHistory(now, { ...historyLimits, ...limits }, catalog)
    this.history.follow(key)
    this.#content = first
  }

  serve(content: ZoneContent): this {
    this.history.note(this.#content, content)
    this.#content = content
    return this
  }

  since(content: number, key = zone): unknown {
    return ownersOf(this.history.between(key, content, this.history.content))
  }
}

const letters = ['a', 'b', 'c', 'd'].map((letter) => contentWith(`${letter} 60 A 192.0.2.1`))
const [a, b, c, d] = letters as [ZoneContent, ZoneContent, ZoneContent, ZoneContent]

test('each change is a step, from each content on', () => {
  const followed = new Followed({}, a).serve(b).serve(c)
  expect(followed.since(0)).toEqual([
    [['a'], ['b']],
    [['b'], ['c']],
  ])
  expect(followed.since(1)).toEqual([[['b'], ['c']]])
  expect(followed.since(2)).toEqual([])
})

test('the same content again is none, and neither is a change that no transfer shows', () => {
  const lines = ['a 60 A 192.0.2.1']
  const model = { ...modelWith(...lines), pools: [pool(1, ['192.0.2.1'])] }
  const heavier = { ...model.pools[0]!.members[0]!, weight: 9 }
  const followed = new Followed({}, contentOf(model))
  followed.serve(contentOf(model))
  followed.serve(contentOf({ ...model, pools: [pool(1, [heavier])] }))
  expect(followed.history.size).toEqual({ changes: 0, bytes: 0 })
})

describe('contents beyond a bound are forgotten, the oldest first', () => {
  test('by count', () => {
    const followed = new Followed({ changesMax: 2 }, a).serve(b).serve(c).serve(d)
    expect(followed.history.size.changes).toBe(2)
    expect(followed.since(0)).toBe('old')
    expect(followed.since(1)).toEqual([
      [['b'], ['c']],
      [['c'], ['d']],
    ])
  })

  test('by octets', () => {
    const one = new Followed({}, a).serve(b).history.size.bytes
    const followed = new Followed({ bytesMax: one * 2 + 1 }, a).serve(b).serve(c).serve(d)
    expect(followed.history.size).toEqual({ changes: 2, bytes: one * 2 })
    expect(followed.since(0)).toBe('old')
  })

  test('by age', () => {
    const followed = new Followed({ ageMaxMs: 1_000 }, a).serve(b)
    followed.nowMs = 600
    followed.serve(c)
    followed.nowMs = 1_001
    expect(followed.since(0)).toBe('old')
    expect(followed.since(1)).toEqual([[['b'], ['c']]])
  })

  test('where none are kept, nothing is known of any content', () => {
    const followed = new Followed({ changesMax: 0 }, a)
    followed.history.follow(zone)
    expect(followed.serve(b).since(0)).toBe('old')
    expect(followed.history.size).toEqual({ changes: 0, bytes: 0 })
  })
})

test('a zone that nobody transferred is not compared', () => {
  const other = zoneKeyOf(wireName('example.net.'))
  expect(new Followed({}, a, other).serve(b).history.size.changes).toBe(0)
})

describe('a zone is sent whole', () => {
  test('when too many of its names change at once', () => {
    const at = (ttl: number): ZoneContent =>
      contentWith(...['a', 'b', 'c'].map((label) => `${label} ${ttl} A 192.0.2.1`))
    const followed = new Followed({ namesOfZoneMax: 2 }, at(60)).serve(at(61))
    expect(followed.since(0)).toBe('large')
    // From there on it is followed when it is transferred again.
    followed.serve(at(62)).history.follow(zone)
    const from = followed.history.content
    followed.serve(contentWith('b 62 A 192.0.2.1', 'c 62 A 192.0.2.1'))
    expect(followed.since(0)).toBe('large')
    expect(followed.since(from)).toEqual([[['a'], []]])
  })

  test('when it was away', () => {
    const away = contentOf(modelOf({ name: 'example.net.', text: soa }))
    const followed = new Followed({}, a).serve(away)
    followed.history.follow(zone)
    expect(followed.serve(a).since(0)).toBe('large')
  })
})

test('addresses of a service change with the members of its pool', () => {
  const model = { ...modelWith(), services: [service(1, `www.${name}`)] }
  const withPool = (...members: readonly string[]): ZoneContent =>
    contentOf({ ...model, pools: [pool(1, members)] })
  const followed = new Followed({}, withPool('192.0.2.1', '192.0.2.2'))
  followed.serve(withPool('192.0.2.1', '192.0.2.3'))
  expect(followed.since(0)).toEqual([[['www'], ['www']]])
})

test('the catalog zone gets and loses members', () => {
  const net = modelOf({ name: 'example.net.', text: soa })
  const followed = new Followed({}, a, catalogKey).serve(contentOf(net)).serve(contentOf(net))
  const [first, ...others] = followed.since(0, catalogKey) as string[][][]
  expect(first!.map(({ length }) => length)).toEqual([1, 1])
  expect(others).toEqual([])
})

test('TXT records that were encoded for the configuration before are compared, too', () => {
  const records = txtRrsets([['t.a.example.com.', 'written']])
  const one = modelWith('t.a 60 TXT "static"')
  const lower = modelOf({ name: 'a.example.com.', text: `${soa}t 60 TXT "static"\n` })
  const two = {
    ...lower,
    zones: [...one.zones, ...lower.zones],
    rrsets: lower.rrsets.map((rrset) => ({ ...rrset, zone: 1 })),
  }
  const before = bundleOf(one)
  const texts = encodeWritten(records, before).handed!
  const dynamic = adoptBundle(texts.bytes, texts.digest)
  const key = zoneKeyOf(wireName('a.example.com.'))
  const after = bundleOf(two)
  // The static record gives way, and the other one is of the zone above.
  const followed = new Followed({}, { bundle: after, dynamic }, key)
  followed.serve({ bundle: after, dynamic: undefined })
  expect(followed.since(0, key)).toEqual([[[], ['t.a']]])
})
