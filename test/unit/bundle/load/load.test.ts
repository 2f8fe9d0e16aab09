import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { NodeCell, NodeFlag, nodeFlagShift, rrsetCountShift } from '#bundle/format/cells.ts'
import { RrsetCell } from '#bundle/format/rrsets.ts'
import { Network4Cell, NetworkCell } from '#bundle/format/client-ranges.ts'
import { canonicalJson } from '#lib/text/canonical-json.ts'
import type { Json } from '#lib/text/canonical-json.ts'
import { layout } from '#bundle/format/format.ts'
import { encodeBundle, EncoderMemory } from '#bundle/encode/encode.ts'
import { adoptBundle, loadBundle } from '#bundle/load/load.ts'
import type { BundleErrorCode } from '#bundle/load/load.ts'
import { PolicyCell } from '#bundle/format/routing-cells.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { plainCodeOf } from '#routing/choose/ways.ts'
import {
  bundleOf,
  encode,
  healthCheck,
  newSigningKey,
  pool,
  service,
  smallModel,
  zone,
} from '../../../support/bundle-models.ts'
import {
  manifestOf,
  serviceCellIndex,
  withElement,
  withElements,
  withManifest,
} from '../../../support/damaged-bundle.ts'
import {
  hostileBundles,
  makeHostileBundles,
  withStrangeSection,
} from '../../../support/hostile-bundles.ts'

const key = newSigningKey()
const encoded = encode(smallModel)
const { bytes } = encoded
const signed = new Uint8Array(bytes)
signBundle(signed, key)

const faultOf = (...args: Parameters<typeof loadBundle>): string => {
  const loaded = loadBundle(...args)
  return loaded.ok ? 'none' : loaded.error.code
}

/** Without and with `sound` as what is known: what is known must not change the outcome. */
function loadEitherWay(file: Uint8Array, sound: Uint8Array): ReturnType<typeof loadBundle> {
  const loaded = loadBundle(file)
  const known = loadBundle(sound)
  if (!known.ok) throw new Error(known.error.message)
  expect(loadBundle(file, undefined, known.value)).toEqual(loaded)
  return loaded
}

describe('a bundle after another one', () => {
  const [first, ...rest] = smallModel.pools
  const rows: readonly [title: string, model: typeof smallModel][] = [
    ['the same', smallModel],
    ['of another commit', { ...smallModel, commit: 'beef00' }],
    ['with another pool', { ...smallModel, pools: [{ ...first!, minHealthy: 2 }, ...rest] }],
    ['without services', { ...smallModel, services: [] }],
  ]
  test.each(rows)('%s, is loaded as if it were the first', (_title, model) => {
    expect(loadEitherWay(encode(model).bytes, bytes).ok).toBe(true)
  })

  test.each(rows)('%s, is encoded as if it were the first', (_title, model) => {
    const memory = new EncoderMemory()
    const encodeNext = (one: typeof smallModel) => encodeBundle(one, plainCodeOf, memory)
    encodeNext(smallModel)
    expect(encodeNext(model)).toEqual(encode(model))
  })

  describe('with many pools that have checks of their own', () => {
    const check = (port: number) => ({ healthCheck: { ...healthCheck, port } })
    const pools = Array.from({ length: 100 }, (_, i) => pool(2 + i, [], check(1 + i)))
    const model = { ...smallModel, services: [], pools }
    const known = bundleOf(model)
    test.each([
      ['nothing changed', pools, 0],
      ['one has another check', pools.with(50, pool(52, [], check(999))), 1],
      ['one went', pools.toSpliced(50, 1), 0],
      ['the first came', [pool(1, [], check(999)), ...pools], 1],
      ['the last came', [...pools, pool(200, [], check(999))], 1],
      ['one has no check any more', pools.with(50, pool(52, [])), 0],
    ])('%s: what a pool had before is not read again', (_title, next, count) => {
      const { bytes: file } = encode({ ...model, pools: next })
      const parse = vi.spyOn(JSON, 'parse')
      onTestFinished(() => {
        parse.mockRestore()
      })
      expect(loadBundle(file, undefined, known).ok).toBe(true)
      expect(parse.mock.calls.filter(([text]) => text.includes('intervalMs'))).toHaveLength(count)
    })

    test('a check that cannot be run is found among those that were there', () => {
      const strange = { healthCheck: { ...healthCheck, port: 65_536 } }
      const { bytes: file } = encode({ ...model, pools: pools.with(50, pool(52, [], strange)) })
      const loaded = loadEitherWay(file, encode(model).bytes)
      expect(loaded.ok ? '' : loaded.error.message).toContain('pool 50 has a health check')
    })
  })

  test('with a section that its digest does not cover, is refused', () => {
    const damaged = new Uint8Array(bytes)
    damaged[damaged.length - layout.signatureBytes - 64]! ^= 1
    const loaded = loadEitherWay(damaged, bytes)
    expect(loaded.ok ? 'loaded' : loaded.error.code).toBe('digest-mismatch')
  })
})

describe('trust', () => {
  test('a signed bundle is loaded by those who trust the key, its digest unchanged', () => {
    const loaded = loadBundle(signed, [newSigningKey(), key])
    expect(loaded.ok && loaded.value.digest).toBe(encoded.digest)
  })

  test('a trusted signed bundle loads like its unsigned form', () => {
    const [one, other] = [loadBundle(signed, [key]), loadBundle(bytes)]
    expect(one.ok && one.value.manifest).toEqual(other.ok && other.value.manifest)
  })

  const wrongKey = new Uint8Array(signed)
  wrongKey.set(Buffer.from('0'.repeat(16)), wrongKey.length - layout.signatureBytes + 8)
  const forged = new Uint8Array(bytes)
  const other = newSigningKey()
  signBundle(forged, { ...other, keyId: key.keyId })
  const moved = new Uint8Array(encode({ ...smallModel, commit: 'beef00' }).bytes)
  moved.set(signed.subarray(-layout.signatureBytes), moved.length - layout.signatureBytes)
  const rows: readonly [string, Uint8Array, BundleErrorCode][] = [
    ['without a signature', new Uint8Array(bytes), 'unsigned'],
    ['with a key that nobody trusts', wrongKey, 'unknown-key'],
    ['signed by another key under the name of a trusted one', forged, 'bad-signature'],
    ['with the signature of another bundle', moved, 'bad-signature'],
  ]
  test.each(rows)('a bundle is refused %s', (_title, file, code) => {
    expect(faultOf(file, [key])).toBe(code)
  })

  test('an empty list of trusted keys refuses every bundle', () => {
    expect(faultOf(signed, [])).toBe('unknown-key')
  })
})

test('another thread gets the same tables from octets and digest', () => {
  const loaded = loadBundle(bytes)
  expect(loaded.ok && adoptBundle(bytes, encoded.digest)).toEqual(loaded.ok && loaded.value)
  expect(() => adoptBundle(new Uint8Array(500), '')).toThrow('loaded before')
})

test('a bundle may stand anywhere in a buffer at a multiple of 64', () => {
  const buffer = new Uint8Array(new SharedArrayBuffer(bytes.length + 128))
  buffer.set(bytes, 64)
  expect(faultOf(buffer.subarray(64, 64 + bytes.length))).toBe('none')
})

describe('a header is refused', () => {
  const withHeader = (edit: (header: DataView) => void): Uint8Array => {
    const copy = new Uint8Array(bytes)
    edit(new DataView(copy.buffer))
    return copy
  }
  const rows: readonly [string, Uint8Array, BundleErrorCode][] = [
    ['of no octets', new Uint8Array(0), 'truncated'],
    ['of 191 octets', new Uint8Array(191), 'truncated'],
    ['of zeros', new Uint8Array(1024), 'not-a-bundle'],
    [
      'of a later format',
      withHeader((h) => h.setUint32(8, layout.formatVersion + 1, true)),
      'other-format-version',
    ],
    ['with one octet more than it says', new Uint8Array([...bytes, 0]), 'truncated'],
    [
      'with a length that is no number',
      withHeader((h) => h.setFloat64(16, NaN, true)),
      'truncated',
    ],
    ['with a negative length', withHeader((h) => h.setFloat64(16, -1, true)), 'truncated'],
    [
      'with a manifest beyond the end',
      withHeader((h) => h.setUint32(12, 900_000, true)),
      'malformed',
    ],
    ['with a huge manifest', withHeader((h) => h.setUint32(12, 2 ** 32 - 1, true)), 'malformed'],
    ['with something after its numbers', withHeader((h) => h.setUint8(40, 1)), 'malformed'],
  ]
  test.each(rows)('%s', (_title, file, code) => {
    expect(faultOf(file)).toBe(code)
  })
})

describe('a manifest is refused', () => {
  const manifest = manifestOf(bytes)
  const edited = (edit: (copy: Record<string, unknown>) => void): string => {
    const copy = structuredClone(manifest) as unknown as Record<string, unknown>
    edit(copy)
    return canonicalJson(copy as Json)
  }
  const firstSection = (fields: object): string =>
    edited((m) => {
      m['sections'] = manifest.sections.map((one, i) => (i === 0 ? { ...one, ...fields } : one))
    })
  const rows: readonly [string, string][] = [
    ['that is empty', ''],
    ['that is no JSON', '{'],
    ['that is null', 'null'],
    ['that is a list', '[]'],
    ['of ten thousand brackets', '['.repeat(10_000)],
    ['without counts', edited((m) => delete m['counts'])],
    [
      'with a count that is a text',
      edited((m) => (m['counts'] = { ...manifest.counts, nodes: '6' })),
    ],
    ['with a negative count', edited((m) => (m['counts'] = { ...manifest.counts, nodes: -1 }))],
    ['with a count too many', edited((m) => (m['counts'] = { ...manifest.counts, nodes: 7 }))],
    [
      'with an endless count',
      edited((m) => (m['counts'] = { ...manifest.counts, pools: 2 ** 52 })),
    ],
    ['without a seed', edited((m) => delete m['nameSeed'])],
    ['without a depth', edited((m) => delete m['nameLabelsMax'])],
    ['with another depth', edited((m) => (m['nameLabelsMax'] = manifest.nameLabelsMax + 1))],
    ['with a depth below zero', edited((m) => (m['nameLabelsMax'] = -1))],
    ['without sections', edited((m) => (m['sections'] = []))],
    ['with a section missing', edited((m) => (m['sections'] = manifest.sections.slice(1)))],
    [
      'with sections in another order',
      edited((m) => (m['sections'] = manifest.sections.toReversed())),
    ],
    [
      'with a section that is null',
      edited((m) => (m['sections'] = manifest.sections.map(() => null))),
    ],
    ['with a section elsewhere', firstSection({ offset: 64 })],
    ['with a section before the start', firstSection({ offset: -64 })],
    ['with a section of endless length', firstSection({ bytes: 2 ** 52 })],
    ['with half a length', firstSection({ bytes: 1.5 })],
  ]
  test.each(rows)('%s', (_title, text) => {
    expect(faultOf(withManifest(bytes, text))).toBe('malformed')
  })

  test('when a section of a later version must be understood, and only then', () => {
    const loaded = loadBundle(withStrangeSection(true)(new Uint8Array(bytes)))
    expect(loaded.ok ? 'loaded' : loaded.error.message).toBe(
      'section "poetry" is of a later version of this program, and a bundle with it cannot be ' +
        'answered from without it: update this node',
    )
    const other = loadBundle(withStrangeSection(false)(new Uint8Array(bytes)))
    expect(other.ok && other.value.rrsetRow).toEqual(bundleOf(smallModel).rrsetRow)
  })

  test.each([
    ['it does not say so', { mustUnderstand: undefined }, 'malformed'],
    ['it lies elsewhere', { offset: 0 }, 'malformed'],
    ['it ends outside', { bytes: 64 }, 'malformed'],
    ['it is another than its digest says', { sha256: '0'.repeat(64) }, 'digest-mismatch'],
    ['it has the name of a known one', { name: 'names' }, 'malformed'],
  ])('when a section of a later version is there, but %s', (_title, fields, code) => {
    const later = withStrangeSection(false)(new Uint8Array(bytes))
    const { sections, ...rest } = manifestOf(later)
    const changed = sections.map((one) => (one.name === 'poetry' ? { ...one, ...fields } : one))
    const text = JSON.stringify({ ...rest, sections: changed })
    expect(faultOf(withManifest(later, text))).toBe(code)
  })

  test('when a section is not the one it digests', () => {
    expect(faultOf(withManifest(bytes, firstSection({ sha256: '0'.repeat(64) })))).toBe(
      'digest-mismatch',
    )
  })
})

describe('columns are refused whose digests fit but', () => {
  const cell = {
    nameOffset: NodeCell.NameOffset,
    nameBytes: NodeCell.NameBytesAndFlags,
    zone: NodeCell.Zone,
    service: NodeCell.Service,
    firstRrset: NodeCell.FirstRrset,
    /** The first name is short: this is zeros before it. */
    inlineName: NodeCell.InlineName,
    inlineEnd: NodeCell.Words - 1,
  }
  /** The third name is the apex, whose rrsets are the first two: NS, then SOA. */
  const apex = 2 * NodeCell.Words
  const soa = RrsetCell.Words
  const flag = (bits: number): number => bits << nodeFlagShift
  const oneRrset = 13 | flag(NodeFlag.Apex) | (1 << rrsetCountShift)
  const rows: readonly [keyof BundleColumns, index: number, value: number, fault: string][] = [
    ['nodeRow', cell.zone, 1, 'node 0 has no zone'],
    ['nodeRow', cell.service, 4, 'node 0 points outside'],
    ['nodeRow', cell.service, 2 ** 32 - 1, 'node 0 points outside'],
    ['zoneNode', 0, 6, 'zoneNode 0 points outside'],
    ['zoneParent', 0, 1, 'zoneParent 0 points outside'],
    ['zoneParent', 0, 0, 'zone 0 is its own parent'],
    ['targetNode', 0, 6, 'targetNode 0 points outside'],
    ['serviceNode', 0, 2 ** 32 - 1, 'service 0 has no name'],
    ['serviceNode', 0, 0, 'service 0 has no name'],
    ['nodeRow', serviceCellIndex(bytes, 1, NodeCell.Pool), 3, 'service 1 has no such pool'],
    ['nodeRow', serviceCellIndex(bytes, 0, NodeCell.TtlSeconds), 2 ** 31, 'too long a TTL'],
    ['nodeRow', serviceCellIndex(bytes, 0, NodeCell.Algorithm), 256, 'has no such policy'],
    ['nodeRow', 2 * NodeCell.Words + cell.service, 1, 'a service has two names'],
    ['memberPool', 3, 2, 'memberPool 3 points outside'],
    ['memberName', 0, 99, 'memberName 0 points outside'],
    ['poolHealthCheck', 0, 99, 'poolHealthCheck 0 points outside'],
    ['stringOffset', 1, 2 ** 31, 'ends before it starts'],
    ['stringOffset', -1, 2 ** 31, 'the texts have another length'],
    ['poolMemberStart', 1, 2, 'pool 1 does not start'],
    ['poolCount4', 1, 2, 'members outside the table'],
    ['poolCount6', 1, 5_000, 'too many members'],
    ['poolCount4', 1, 0, 'members without a pool'],
    ['memberWeight', 0, 1_000_001, 'weighs too much'],
    ['poolMinHealthy', 0, 4_097, 'wants more healthy members'],
    ['nodeRow', cell.nameOffset, 2 ** 31, 'name 0 ends outside'],
    ['nodeRow', cell.nameBytes, 3, 'name 0 is not a name'],
    ['nodeRow', cell.nameBytes, 0, 'name 0 is not a name'],
    ['names', 0, 64, 'name 0 is not a name'],
    ['names', 0, 0, 'name 0 is not a name'],
    ['names', 3, 0x21, 'name 0 has two spellings'],
    ['nodeRow', cell.inlineName, 1, 'name 0 has two spellings'],
    ['nodeRow', cell.inlineEnd, 1, 'name 0 has two spellings'],
    ['nodeRow', 2 * NodeCell.Words + cell.nameBytes, 13, 'zone 0 has no apex'],
    ['nameIndex', 1, 99, 'points outside its table'],
    ['nodeRow', cell.nameBytes, 20 | flag(NodeFlag.Apex), 'node 0 is and is not the apex'],
    ['nodeRow', cell.nameBytes, 20 | flag(NodeFlag.HasCname), 'flags that its rrsets deny'],
    ['nodeRow', cell.nameBytes, 20 | flag(NodeFlag.Dname), 'flags that its rrsets deny'],
    ['nodeRow', cell.nameBytes, 20 | flag(NodeFlag.Cut), 'flags that its rrsets deny'],
    ['nodeRow', cell.nameBytes, 20 | (5 << rrsetCountShift), 'rrsets outside the table'],
    ['nodeRow', cell.nameBytes, 20 | (1_001 << rrsetCountShift), 'too many rrsets'],
    ['nodeRow', apex + cell.firstRrset, 1, 'rrsets that are not in order'],
    ['nodeRow', apex + cell.firstRrset, 2 ** 32 - 1, 'rrsets outside the table'],
    ['nodeRow', apex + cell.nameBytes, oneRrset, 'zone 0 has no SOA'],
    ['rrsetRow', RrsetCell.Type, 0, 'rrset 0 has no type'],
    ['rrsetRow', RrsetCell.Type, 65_536, 'rrset 0 has no type'],
    ['rrsetRow', RrsetCell.TtlSeconds, 2 ** 31, 'rrset 0 has too long a TTL'],
    ['rrsetRow', RrsetCell.Count, 0, 'rrset 0 cannot have 0 records'],
    ['rrsetRow', RrsetCell.Count, 33, 'rrset 0 cannot have 33 records'],
    ['rrsetRow', soa + RrsetCell.Count, 2, 'rrset 1 cannot have 2 records'],
    ['rrsetRow', RrsetCell.Count, 3, 'rrset 0 has damaged data'],
    ['rrsetRow', RrsetCell.Data, 2 ** 32 - 1, 'rrset 0 has damaged data'],
    ['rrsetRow', soa + RrsetCell.Data, 2 ** 31, 'rrset 1 has damaged data'],
    ['rrsetRow', soa + RrsetCell.Data, 2 ** 32 - 1, 'rrset 1 has damaged data'],
    ['rrsetRow', RrsetCell.Data, 4, 'rrset 0 has damaged data'],
    ['rrsetRow', soa + RrsetCell.Data, 0, 'rrset 1 shares data of another form'],
    ['rrsetRow', soa + RrsetCell.Data, 12, 'rrset 1 begins inside other data'],
    ['rrsetData', 1, 11, 'rrset 0 has damaged data'],
    ['rrsetData', 0, 255, 'rrset 0 has damaged data'],
    ['rrsetData', 5, 2, 'rrset 0 has damaged data'],
    ['rrsetData', 6, 3, 'rrset 0 has damaged data'],
    ['rrsetData', 7, 2, 'rrset 0 has damaged data'],
    ['rrsetData', 8, 64, 'rrset 0 has damaged data'],
    ['rrsetData', 8, 0, 'rrset 0 has damaged data'],
  ]
  test.each(rows)('%s %i is %i', (name, index, value, fault) => {
    const loaded = loadEitherWay(withElement(bytes, name, index, value), bytes)
    expect(loaded.ok ? 'loaded' : loaded.error.message).toContain(fault)
  })

  test('glue is of a name without addresses', () => {
    const glue = (old: number, at: number): number => (at === 2 ? 0x40 : at === 5 ? 0 : old)
    const loaded = loadBundle(withElements(bytes, 'rrsetData', glue))
    expect(loaded.ok ? 'loaded' : loaded.error.message).toContain('rrset 0 has damaged data')
  })

  const first4 = 0x0a00_0000
  const geoRules = { v4: [{ start: first4, end: first4 + 255, endpoints: ['192.0.2.2'] }], v6: [] }
  const routed = encode({
    ...smallModel,
    pools: smallModel.pools.map((one, i) => (i === 0 ? { ...one, geoRules } : one)),
    services: smallModel.services.map((one) => ({ ...one, answerCount: 2 })),
  }).bytes
  const table = NetworkCell.Words
  const routing: readonly [keyof BundleColumns, index: number, value: number, fault: string][] = [
    ['poolNetworks', 0, 3, 'pool 0 has geo rules outside their table'],
    ['poolNetworks', 0, 0, 'there are tables of networks that nobody uses'],
    ['poolNetworks', 1, 2, 'pool 1 has geo rules outside their table'],
    ['networkTable', table + NetworkCell.Count4, 0, 'network table 1 is empty'],
    ['networkTable', table + NetworkCell.Count4, 2 ** 32 - 1, 'network table 1 ends outside'],
    ['networkTable', table + NetworkCell.Start4, 0, 'network table 1 does not start'],
    ['networkTable', table + NetworkCell.Start6, 0, 'network table 1 does not start'],
    ['networkTable', NetworkCell.Count4, 4, 'network table 0 is not in order'],
    ['network4', 1 * Network4Cell.Words, 1, 'network table 1 is not in order'],
    ['network4', 3 * Network4Cell.Words, first4 - 1, 'network table 1 is not in order'],
    ['network4', -1, 99, 'network table 1 names what is not there'],
    ['networkList', 1, 2 ** 32 - 1, 'network table 1 names what is not there'],
    ['networkList', 2, 3, 'network table 1 names what is not there'],
    ['memberEndpoint', 0, 1, 'member 0 has no such endpoint'],
    ['policyRow', PolicyCell.Text, 99, 'policy 0 has no text'],
    ['policyRow', PolicyCell.Text, 0, 'policy 0 is not one that this version can follow'],
    ['policyRow', PolicyCell.OnAllDown, 3, 'does not say what to do when all are down'],
    ['policyRow', PolicyCell.FallbackPool, 3, 'falls back on a pool outside the table'],
    ['policyRow', PolicyCell.AnswerCount, 0, 'answers with 0 addresses'],
    ['policyRow', PolicyCell.AnswerCount, 17, 'answers with 17 addresses'],
    ['routingSettings', 0, 99, 'there are no routing settings'],
    ['routingSettings', 0, 0, 'the routing settings are not those of this version'],
  ]
  test.each(routing)('in what routes by client, %s %i is %i', (name, index, value, fault) => {
    expect(loadBundle(routed).ok).toBe(true)
    const loaded = loadEitherWay(withElement(routed, name, index, value), routed)
    expect(loaded.ok ? 'loaded' : loaded.error.message).toContain(fault)
  })

  test.each([
    ['the longest script', 65_536, true],
    ['a longer one', 65_537, false],
  ])('a chain with %s', (_, length, isLoaded) => {
    const filterChain = [`script:${'\n'.repeat(length - 'script:'.length)}`]
    const services = [service(1, 'www.example.org.', { filterChain, pool: 0 })]
    const loaded = loadBundle(encode({ ...smallModel, services }).bytes)
    const isUnknown = !loaded.ok && loaded.error.message.includes('is not one that this version')
    expect([loaded.ok, isUnknown]).toEqual([isLoaded, !isLoaded])
  })

  test('a name stands above the zone that it says it is in', () => {
    const zones = [zone('org.'), zone('a.example.org.')]
    const { bytes: file } = encode({ zones })
    // In the order of their names: a.example.org., example.org. and org.
    const loaded = loadBundle(withElement(file, 'nodeRow', NodeCell.Words + cell.zone, 0))
    expect(loaded.ok ? 'loaded' : loaded.error.message).toContain('node 1 is above its zone')
  })

  test('a name in the index twice hides another one', () => {
    const loaded = loadBundle(bytes)
    if (!loaded.ok) throw new Error(loaded.error.message)
    const { nameIndex } = loaded.value
    const taken = nameIndex.findIndex((value, i) => i % 2 === 1 && value === 1)
    expect(faultOf(withElement(bytes, 'nameIndex', taken, 2))).toBe('malformed')
    expect(faultOf(withElement(bytes, 'nameIndex', taken, 0))).toBe('malformed')
    expect(faultOf(withElement(bytes, 'nameIndex', taken - 1, 77))).toBe('malformed')
  })
})

describe('the corpus of hostile files', () => {
  const folder = new URL('../../../fuzz/corpus/bundle/', import.meta.url)
  // After a change of the layout: GSLBD_UPDATE=1 npx vitest run test/unit/bundle/load/load.test.ts
  if (process.env['GSLBD_UPDATE'] === '1') {
    for (const { file, bytes } of makeHostileBundles()) writeFileSync(new URL(file, folder), bytes)
  }

  test('has a file for each row of its table, and no other', () => {
    expect(readdirSync(folder).sort()).toEqual(hostileBundles.map(({ file }) => file).sort())
  })

  test.each(hostileBundles)('$file is refused for this, not for its age', (hostile) => {
    const file = new Uint8Array(readFileSync(new URL(hostile.file, folder)))
    const loaded = loadEitherWay(file, bytes)
    if (loaded.ok) throw new Error('it was loaded')
    expect(loaded.error.message).toContain(hostile.reason)
    expect(loaded.error.code).toBe(hostile.code)
  })
})
