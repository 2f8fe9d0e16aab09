// Bundles that harm a careless loader, as files; test/fuzz/corpus/bundle keeps them.
import { hash } from 'node:crypto'
import { canonicalJson } from '#lib/text/canonical-json.ts'
import type { Json } from '#lib/text/canonical-json.ts'
import { alignUp, layout } from '#bundle/format/format.ts'
import { RrsetCell } from '#bundle/format/rrsets.ts'
import type { BundleErrorCode } from '#bundle/load/load.ts'
import type { Manifest } from '#bundle/format/manifest.ts'
import { encode, smallModel } from './bundle-models.ts'
import { manifestOf, withElement, withElements, withManifest } from './damaged-bundle.ts'

interface HostileBundle {
  /** `<what-is-wrong-with-it>.<the code it is refused with>` */
  readonly file: string
  readonly code: BundleErrorCode
  /** Words of the message: files of an older layout are refused for another reason. */
  readonly reason: string
  readonly make: (good: Uint8Array) => Uint8Array
}

const endless = 2 ** 50
const rows: readonly (readonly [string, BundleErrorCode, string, HostileBundle['make']])[] = [
  ['header-only', 'truncated', 'too few for a bundle', (good) => good.slice(0, layout.headerBytes)],
  ['last-octet-missing', 'truncated', 'its header announces', (good) => good.slice(0, -1)],
  ['elf-magic', 'not-a-bundle', 'not a gslbd bundle', withMagic('\x7fELF\x02\x01\x01\0')],
  ['section-of-the-future', 'unknown-section', 'update this node', withStrangeSection(true)],
  ['format-of-the-future', 'other-format-version', 'compile it again', ofTheFuture],
  ['brackets-for-a-manifest', 'malformed', 'not JSON', (good) => withManifest(good, brackets)],
  [
    'counts-of-a-petabyte',
    'malformed',
    'has not one row for each',
    edited((manifest) => ({ ...manifest, counts: { ...manifest.counts, members: endless } })),
  ],
  [
    'sections-overlap',
    'malformed',
    'is not in its place',
    edited((manifest) => ({
      ...manifest,
      sections: manifest.sections.map((section) => ({ ...section, offset: 0 })),
    })),
  ],
  ['one-octet-flipped', 'digest-mismatch', 'is not what the manifest says', flipped],
  [
    'member-points-nowhere',
    'malformed',
    'memberPool 0 points outside',
    (good) => withElement(good, 'memberPool', 0, 2 ** 32 - 1),
  ],
  [
    'name-without-root',
    'malformed',
    'is not a name',
    (good) => withElements(good, 'names', (octet) => (octet === 0 ? 1 : octet)),
  ],
  [
    'name-index-without-a-free-slot',
    'malformed',
    'holds a name twice or not at all',
    (good) => withElements(good, 'nameIndex', (value, i) => (i % 2 === 1 ? 1 : value)),
  ],
  [
    'rdata-offset-wraps',
    'malformed',
    'rrset 0 has damaged data',
    (good) => withElement(good, 'rrsetRow', RrsetCell.Data, 2 ** 32 - 1),
  ],
]
/** Adds an empty section after the others. */
export function withStrangeSection(mustUnderstand: boolean): HostileBundle['make'] {
  return edited((manifest) => {
    const { offset, bytes } = manifest.sections.at(-1)!
    const strange = { name: 'poetry', offset: offset + alignUp(bytes), bytes: 0, mustUnderstand }
    return {
      ...manifest,
      sections: [...manifest.sections, { ...strange, sha256: hash('sha256', '') }],
    }
  })
}

const brackets = '['.repeat(5_000)

export const hostileBundles: readonly HostileBundle[] = rows.map(([name, code, reason, make]) => ({
  file: `${name}.${code}`,
  code,
  reason,
  make,
}))

/** The octets of every file in the current layout. */
export function makeHostileBundles(): { file: string; bytes: Uint8Array }[] {
  const good = encode(smallModel).bytes
  return hostileBundles.map(({ file, make }) => ({ file, bytes: make(new Uint8Array(good)) }))
}

function withMagic(magic: string): HostileBundle['make'] {
  return (good) => {
    good.set(Buffer.from(magic, 'latin1'))
    return good
  }
}

function ofTheFuture(good: Uint8Array): Uint8Array {
  new DataView(good.buffer).setUint32(8, layout.formatVersion + 1, true)
  return good
}

function edited(edit: (manifest: Manifest) => Manifest): HostileBundle['make'] {
  return (good) => withManifest(good, canonicalJson(edit(manifestOf(good)) as unknown as Json))
}

/** Flips the lowest bit in the first octet of the first section that has any. */
function flipped(good: Uint8Array): Uint8Array {
  const length = new DataView(good.buffer).getUint32(12, true)
  const section = manifestOf(good).sections.find(({ bytes }) => bytes > 0)!
  good[alignUp(layout.headerBytes + length) + section.offset]! ^= 1
  return good
}
