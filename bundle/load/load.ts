// Loads a bundle and checks it: one loader for the compiler, the start and the swap.
import { hash, verify } from 'node:crypto'
import { assert } from '#lib/assert.ts'
import { parseJson } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { Bundle, BundleColumns } from '#bundle/format/bundle.ts'
import type { TrustedKey } from '#bundle/signature/channel.ts'
import { checkColumns } from './check-columns.ts'
import { bundleDigest } from '#bundle/signature/digest.ts'
import {
  alignUp,
  arrayTypes,
  elementBytes,
  layout,
  markNames,
  sectionNames,
  sectionSpecs,
} from '#bundle/format/format.ts'
import type { ElementType } from '#bundle/format/format.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import type { BundleCounts, Manifest, ManifestSection } from '#bundle/format/manifest.ts'
import { signedManifest } from '#bundle/signature/sign.ts'

export type BundleErrorCode =
  | 'truncated'
  | 'not-a-bundle'
  | 'other-format-version'
  | 'malformed'
  | 'over-limit'
  | 'unsigned'
  | 'unknown-key'
  | 'bad-signature'
  | 'digest-mismatch'
  | 'unknown-section'

interface BundleError {
  readonly code: BundleErrorCode
  /** A sentence for people. */
  readonly message: string
}

const fail = (code: BundleErrorCode, message: string): Result<never, BundleError> =>
  err({ code, message })

/**
 * @param bytes the whole file; its buffer is kept, so it should be a SharedArrayBuffer and must
 * start at a multiple of 64
 * @param trusted the accepted keys, one of which must have signed; left out: the signature is not
 * checked
 * @param known was loaded before: equal octets are not hashed and checked again. The result does
 * not depend on it
 */
export function loadBundle(
  bytes: Uint8Array,
  trusted?: readonly TrustedKey[],
  known?: Bundle,
): Result<Bundle, BundleError> {
  const header = readHeader(bytes)
  if (!header.ok) return header
  const { manifestBytes, contentBytes } = header.value
  if (trusted !== undefined) {
    const signature = checkSignature(bytes, contentBytes, trusted)
    if (!signature.ok) return signature
  }
  const manifest = readManifest(bytes, manifestBytes)
  if (!manifest.ok) return manifest
  const base = alignUp(layout.headerBytes + manifestBytes)
  const place = { bytes, base, contentBytes }
  const mapped = mapColumns(place, manifest.value, known)
  if (!mapped.ok) return mapped
  const { columns, same } = mapped.value
  if (!isPadded(bytes, base, manifestBytes, contentBytes, manifest.value)) {
    return fail('malformed', 'there are octets between the parts that should be zero')
  }
  const fault = checkColumns(columns, manifest.value, known, same)
  if (fault !== undefined) return fail('malformed', `the bundle is damaged: ${fault}`)
  return ok({ ...columns, ...derived(bytes, manifest.value, columns), digest: bundleDigest(bytes) })
}

/**
 * Makes the views of a bundle that this process has already loaded, received from another thread.
 *
 * @throws Error when the octets are not what was loaded
 */
export function adoptBundle(bytes: Uint8Array, digest: string): Bundle {
  const header = readHeader(bytes)
  assert(header.ok, 'the bundle was loaded before: it has a header')
  const { manifestBytes, contentBytes } = header.value
  const manifest = readManifest(bytes, manifestBytes)
  assert(manifest.ok, 'the bundle was loaded before: its manifest can be read')
  const base = alignUp(layout.headerBytes + manifestBytes)
  assertPlaced(manifest.value, contentBytes - base)
  assert(digest.length === 64, 'a bundle is known by its SHA-256 in hexadecimal digits')
  const columns = viewColumns(bytes, base, manifest.value)
  return { ...columns, ...derived(bytes, manifest.value, columns), digest }
}

/** Views must lie within the octets: beyond, they would read another bundle. */
function assertPlaced({ sections, counts }: Manifest, bytesMax: number): void {
  for (const [i, name] of sectionNames.entries()) {
    const { offset, bytes } = sections[i]!
    const { element, rows, width } = sectionSpecs[name]
    assert(sections[i]!.name === name, `section ${name} of an adopted bundle is in its place`)
    assert(offset + bytes <= bytesMax, `section ${name} of an adopted bundle ends inside of it`)
    const isWhole = rows === 'free' || bytes === counts[rows] * elementBytes[element] * width
    assert(isWhole, `section ${name} of an adopted bundle has a row for each of its ${rows}`)
  }
}

function derived(bytes: Uint8Array, manifest: Manifest, columns: BundleColumns) {
  const slots = columns.nameIndex.length / 2
  const responseSlots = columns.responseIndex.length / 2
  // Another mask would skip slots that hold names. Without rules there are no slots.
  assert(slots > 0 && (slots & (slots - 1)) === 0, 'the name index has 2^n slots')
  assert((responseSlots & (responseSlots - 1)) === 0, 'the index of response rules has 2^n slots')
  return {
    manifest,
    bytes,
    counts: manifest.counts,
    nameSeed: manifest.nameSeed,
    nameLabelsMax: manifest.nameLabelsMax,
    nameIndexMask: columns.nameIndex.length / 2 - 1,
    responseIndexMask: columns.responseIndex.length / 2 - 1,
    hasHostnames: columns.hostnameNames.length > 0,
  }
}

function readHeader(
  bytes: Uint8Array,
): Result<{ manifestBytes: number; contentBytes: number }, BundleError> {
  if (bytes.length < layout.headerBytes + layout.signatureBytes) {
    return fail('truncated', `the file has ${bytes.length} octets, too few for a bundle`)
  }
  if (bytes.length > bundleLimits.bytesMax) {
    return fail(
      'over-limit',
      `the file has ${bytes.length} octets, more than ${bundleLimits.bytesMax}`,
    )
  }
  if (Buffer.from(bytes.subarray(0, 8)).toString('latin1') !== layout.magic) {
    return fail('not-a-bundle', 'the file is not a gslbd bundle')
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, layout.headerBytes)
  const version = view.getUint32(8, true)
  if (version !== layout.formatVersion) {
    return fail(
      'other-format-version',
      `the bundle has format ${version}, this program reads ${layout.formatVersion}: compile it again`,
    )
  }
  const manifestBytes = view.getUint32(12, true)
  const contentBytes = view.getFloat64(16, true)
  if (contentBytes + layout.signatureBytes !== bytes.length) {
    return fail(
      'truncated',
      `the file has ${bytes.length} octets, its header announces ${contentBytes + layout.signatureBytes}`,
    )
  }
  if (
    manifestBytes > bundleLimits.manifestBytesMax ||
    layout.headerBytes + manifestBytes > contentBytes
  ) {
    return fail('malformed', `the manifest cannot have ${manifestBytes} octets`)
  }
  return ok({ manifestBytes, contentBytes })
}

function checkSignature(
  bytes: Uint8Array,
  contentBytes: number,
  trusted: readonly TrustedKey[],
): Result<null, BundleError> {
  const block = Buffer.from(bytes.subarray(contentBytes))
  if (block.toString('latin1', 0, 8) !== layout.signatureMagic) {
    return fail('unsigned', 'the bundle is not signed')
  }
  const keyId = block.toString('latin1', 8, 24)
  const key = trusted.find((candidate) => candidate.keyId === keyId)
  if (key === undefined) {
    return fail(
      'unknown-key',
      `the bundle is signed with key ${JSON.stringify(keyId)}, which is not trusted here`,
    )
  }
  const isGood = verify(
    null,
    signedManifest(bytes),
    key.publicKey,
    block.subarray(24, layout.signatureEnd),
  )
  return isGood ? ok(null) : fail('bad-signature', 'the signature does not match the manifest')
}

function readManifest(bytes: Uint8Array, manifestBytes: number): Result<Manifest, BundleError> {
  const text = Buffer.from(bytes.subarray(layout.headerBytes, layout.headerBytes + manifestBytes))
  const value = parseJson(text.toString('utf8'))
  if (value === undefined) return fail('malformed', 'the manifest is not JSON')
  return isManifest(value)
    ? ok(value)
    : fail('malformed', 'the manifest has not the fields of a manifest')
}

const countNames: readonly (keyof BundleCounts)[] = [
  'nodes',
  'zones',
  'rrsets',
  'services',
  'pools',
  'members',
  'responseRules',
  'redirects',
]

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false
  const { compiler, commit, counts, nameSeed, nameLabelsMax, sections } = value as Record<
    string,
    unknown
  >
  if (typeof compiler !== 'string' || typeof commit !== 'string') return false
  if (!Number.isSafeInteger(nameSeed) || !isIndex(nameLabelsMax)) return false
  if (typeof counts !== 'object' || counts === null) return false
  const isCount = (name: string) => isIndex((counts as Record<string, unknown>)[name])
  if (!countNames.every(isCount) || !Array.isArray(sections)) return false
  if (sections.length < sectionNames.length || !sections.every(isSection)) return false
  // Unknown sections stand last, and say whether they may be skipped.
  const later = sections.slice(sectionNames.length)
  return later.length <= laterSectionsMax && later.every(isSkippable)
}

/** Bounds the work for skipped sections. */
const laterSectionsMax = 64

function isSkippable({ name, mustUnderstand }: ManifestSection): boolean {
  const isKnown = (sectionNames as readonly string[]).includes(name)
  return !isKnown && typeof mustUnderstand === 'boolean'
}

function isSection(value: unknown): value is ManifestSection {
  if (typeof value !== 'object' || value === null) return false
  const { name, offset, bytes, sha256 } = value as Record<string, unknown>
  return typeof name === 'string' && isIndex(offset) && isIndex(bytes) && typeof sha256 === 'string'
}

function isIndex(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

interface Place {
  readonly bytes: Uint8Array
  /** Offset of the first section. */
  readonly base: number
  readonly contentBytes: number
}

interface Mapped {
  readonly columns: BundleColumns
  /** See `same` of `checkColumns`. */
  readonly same: ReadonlySet<keyof BundleColumns>
}

/** Maps each section to its view after checking place, size and digest. */
function mapColumns(
  { bytes, base, contentBytes }: Place,
  manifest: Manifest,
  known: Bundle | undefined,
): Result<Mapped, BundleError> {
  const later = manifest.sections.slice(sectionNames.length)
  const marks: readonly string[] = markNames
  const strange = later.find(
    ({ name, mustUnderstand }) => mustUnderstand === true && !marks.includes(name),
  )
  if (strange !== undefined) {
    return fail(
      'unknown-section',
      `section ${JSON.stringify(strange.name)} is of a later version of this program, and a ` +
        'bundle with it cannot be answered from without it: update this node',
    )
  }
  const same = new Set<keyof BundleColumns>()
  let expectedOffset = 0
  for (const [i, name] of sectionNames.entries()) {
    const section = manifest.sections[i]!
    const { element, rows, width } = sectionSpecs[name]
    const rowBytes = elementBytes[element] * width
    const isInPlace = section.name === name && section.offset === expectedOffset
    if (!isInPlace) return fail('malformed', `section ${name} is not in its place`)
    if (section.bytes % rowBytes !== 0) return fail('malformed', `section ${name} has half a row`)
    if (rows !== 'free' && section.bytes !== manifest.counts[rows] * rowBytes) {
      return fail('malformed', `section ${name} has not one row for each of its ${rows}`)
    }
    expectedOffset += alignUp(section.bytes)
    if (base + expectedOffset > contentBytes)
      return fail('malformed', `section ${name} ends outside`)
    const start = base + section.offset
    const octets = bytes.subarray(start, start + section.bytes)
    if (known?.manifest.sections[i]!.sha256 === section.sha256 && isEqual(octets, known[name])) {
      same.add(name)
    } else if (hash('sha256', octets) !== section.sha256) {
      return fail('digest-mismatch', `section ${name} is not what the manifest says`)
    }
  }
  const rest = checkLaterSections({ bytes, base, contentBytes }, later, expectedOffset)
  if (!rest.ok) return rest
  if (known === undefined || !isAlike(manifest, known.manifest)) same.clear()
  return ok({ columns: viewColumns(bytes, base, manifest), same })
}

/** Skipped sections must match the manifest, too. */
function checkLaterSections(
  { bytes, base, contentBytes }: Place,
  later: readonly ManifestSection[],
  offsetOfFirst: number,
): Result<null, BundleError> {
  let expectedOffset = offsetOfFirst
  for (const { name, offset, bytes: size, sha256 } of later) {
    const title = `section ${JSON.stringify(name)}`
    if (offset !== expectedOffset) return fail('malformed', `${title} is not in its place`)
    expectedOffset += alignUp(size)
    if (base + expectedOffset > contentBytes) return fail('malformed', `${title} ends outside`)
    const octets = bytes.subarray(base + offset, base + offset + size)
    if (hash('sha256', octets) !== sha256) {
      return fail('digest-mismatch', `${title} is not what the manifest says`)
    }
  }
  return base + expectedOffset === contentBytes
    ? ok(null)
    : fail('malformed', 'there are octets after the last section')
}

function isEqual(octets: Uint8Array, column: ArrayBufferView): boolean {
  const { buffer, byteOffset, byteLength } = column
  return Buffer.compare(octets, new Uint8Array(buffer, byteOffset, byteLength)) === 0
}

/** Whether the manifest data read by checks is equal. */
function isAlike(a: Manifest, b: Manifest): boolean {
  const hasSameCounts = countNames.every((name) => a.counts[name] === b.counts[name])
  return hasSameCounts && a.nameSeed === b.nameSeed && a.nameLabelsMax === b.nameLabelsMax
}

/**
 * Octets that neither digest nor signature covers must be zero, so that a bundle has one form only.
 */
function isPadded(
  bytes: Uint8Array,
  base: number,
  manifestBytes: number,
  contentBytes: number,
  { sections }: Manifest,
): boolean {
  const isZero = (start: number, end: number): boolean =>
    bytes.subarray(start, end).every((octet) => octet === 0)
  if (!isZero(layout.announcedBytes, layout.headerBytes)) return false
  if (!isZero(layout.headerBytes + manifestBytes, base)) return false
  if (!isZero(contentBytes + layout.signatureEnd, bytes.length)) return false
  return sections.every(({ offset, bytes: size }) =>
    isZero(base + offset + size, base + offset + alignUp(size)),
  )
}

function viewColumns(bytes: Uint8Array, base: number, manifest: Manifest): BundleColumns {
  const viewOf = (element: ElementType, offset: number, size: number) =>
    new arrayTypes[element](
      bytes.buffer,
      bytes.byteOffset + base + offset,
      size / elementBytes[element],
    )
  const entries = sectionNames.map((name, i): [string, object] => {
    const section = manifest.sections[i]!
    return [name, viewOf(sectionSpecs[name].element, section.offset, section.bytes)]
  })
  return Object.fromEntries(entries) as unknown as BundleColumns
}
