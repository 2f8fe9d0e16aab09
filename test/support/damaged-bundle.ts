// Bundles with one fault each and matching digests, as a careless or hostile compiler signs them.
import { hash } from 'node:crypto'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { canonicalJson } from '#lib/text/canonical-json.ts'
import type { Json } from '#lib/text/canonical-json.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { alignUp, elementBytes, layout, sectionSpecs } from '#bundle/format/format.ts'
import { loadBundle } from '#bundle/load/load.ts'
import type { Manifest } from '#bundle/format/manifest.ts'

const columnTypes = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array } as const

export function manifestOf(bytes: Uint8Array): Manifest {
  const length = new DataView(bytes.buffer).getUint32(12, true)
  const text = Buffer.from(bytes.slice(layout.headerBytes, layout.headerBytes + length))
  return JSON.parse(text.toString('utf8')) as Manifest
}

/** Copies a bundle with element `index` of a section set to `value`, and corrects the digest. */
export function withElement(
  original: Uint8Array,
  name: keyof BundleColumns,
  index: number,
  value: number,
): Uint8Array {
  return withElements(original, name, (old, i, length) =>
    i === (index < 0 ? length + index : index) ? value : old,
  )
}

/** Copies a bundle with each element changed by `change`. */
export function withElements(
  original: Uint8Array,
  name: keyof BundleColumns,
  change: (value: number, index: number, length: number) => number,
): Uint8Array {
  const bytes = new Uint8Array(original)
  const manifest = manifestOf(bytes)
  const length = new DataView(bytes.buffer).getUint32(12, true)
  const section = manifest.sections.find((candidate) => candidate.name === name)!
  const start = alignUp(layout.headerBytes + length) + section.offset
  const width = elementBytes[sectionSpecs[name].element] as keyof typeof columnTypes
  const column = new columnTypes[width](bytes.buffer, start, section.bytes / width)
  for (let i = 0; i < column.length; i++) column[i] = change(column[i]!, i, column.length)
  const sha256 = hash('sha256', bytes.subarray(start, start + section.bytes))
  const sections = manifest.sections.map((one) => (one === section ? { ...one, sha256 } : one))
  bytes.set(
    Buffer.from(canonicalJson({ ...manifest, sections } as unknown as Json)),
    layout.headerBytes,
  )
  return bytes
}

/** Copies a bundle with another manifest text; sections move to where the loader will look. */
export function withManifest(original: Uint8Array, text: string): Uint8Array {
  const length = new DataView(original.buffer).getUint32(12, true)
  const sections = original.subarray(alignUp(layout.headerBytes + length))
  const manifest = Buffer.from(text)
  const base = alignUp(layout.headerBytes + manifest.length)
  const bytes = new Uint8Array(base + sections.length)
  bytes.set(original.subarray(0, layout.headerBytes))
  bytes.set(manifest, layout.headerBytes)
  bytes.set(sections, base)
  const header = new DataView(bytes.buffer)
  header.setUint32(12, manifest.length, true)
  header.setFloat64(16, bytes.length - layout.signatureBytes, true)
  return bytes
}

/** Where a cell of a service stands in `nodeRow`. */
export function serviceCellIndex(bytes: Uint8Array, service: number, cell: number): number {
  const bundle = loadBundle(bytes)
  if (!bundle.ok) throw new Error(bundle.error.message)
  return bundle.value.serviceNode[service]! * NodeCell.Words + cell
}
