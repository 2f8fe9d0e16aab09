// Reads one file: a checked object, or findings. The result depends only on the bytes.
import { suggest } from '#lib/suggest.ts'
import type { RoutingModel } from '#bundle/format/model.ts'
import { apiVersion } from '#schemas/objects/metadata.ts'
import { kindNames } from '#schemas/kinds.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import { validate } from '#schemas/validator.ts'
import type { RecordsSpec } from '#schemas/objects/records.ts'
import type { SchemaFault } from '#schemas/validator.ts'
import { keyAt, valueAt } from '#diagnostics/diagnostic.ts'
import type { LocalSpan, Place, SeverityCounts, YamlPath } from '#diagnostics/diagnostic.ts'
import { diagnosticSpecs } from '#diagnostics/diagnostics.ts'
import type { LocalFinding, Report } from '#diagnostics/finding.ts'
import { checkName } from '#compiler/values/names.ts'
import type { Arrangement } from '#compiler/values/network-rules.ts'
import { checksOf } from '#compiler/rules/object/object-rules.ts'
import { lookAround } from './partial.ts'
import { faultyPaths, reportFaults, shown } from './shape.ts'
import { withLookalikes } from './lookalikes.ts'
import { isJsonLines } from '#compiler/yaml/parse/json-lines.ts'
import { asPlain, readYaml } from '#compiler/yaml/document.ts'
import type { YamlDocument } from '#compiler/yaml/document.ts'
import { isFields } from '#lib/text/json.ts'

export interface ReadFile {
  readonly blobId: string
  /** Kept for the places of findings between files, and for showing lines. */
  readonly text: string
  /** Kind and name that the file declares, even when the rest is wrong. */
  readonly kind: Kind | undefined
  readonly name: string | undefined
  /** Undefined when it does not fit the schema. */
  readonly object: ObjectOf[Kind] | undefined
  /** A service's domain in its canonical form. */
  readonly domainKey: string | undefined
  readonly findings: readonly LocalFinding[]
  /** Number of findings beyond those kept, by severity. */
  readonly findingsLeftOut: SeverityCounts
  readonly memo: FileMemo
}

/** Results that later stages derive from the content and store here. */
interface FileMemo {
  /** See FileMemory. */
  round: number
  /** Uid of the last entry made from it: equal content may be at several paths. */
  uid: string
  settings: unknown
  mapRules: Arrangement | undefined
  routing: RoutingModel | undefined
  /** Addresses of a pool's members in their canonical form. */
  addresses: readonly string[] | undefined
  /** A member of the pool has a host name. */
  hasHostname: boolean | undefined
  /** By place: the text ranges of findings. */
  spans: Map<string, LocalSpan> | undefined
}

/** More mistakes than any edit of a valid file makes. */
const findingsPerFileMax = 200

/** Replaces a file that is refused unread: it may declare anything. */
export function unreadableFile(): ReadFile {
  return unread('', '', [])
}

/** @returns the parsed content. Never throws. */
export function readFile(blobId: string, bytes: Uint8Array): ReadFile {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const span = { start: 0, end: 1 }
    const args = [String(firstBadByte(bytes))]
    return unread(blobId, '', [{ code: 'file-not-utf8', args, suggestion: '', spans: [span] }])
  }
  const check = (yaml: YamlDocument): ReadFile => readDocument(blobId, text, yaml)
  return withLookalikes(check(readYaml(text)), check)
}

/** Like `readFile` for a text printed from `value`. */
export function readPrinted(blobId: string, text: string, value: unknown): ReadFile {
  return readDocument(blobId, text, asPlain(text, value))
}

function readDocument(blobId: string, text: string, yaml: YamlDocument): ReadFile {
  if (yaml.findings.length > 0 && !(yaml.isWhole && isFields(yaml.value))) {
    return { ...unread(blobId, text, yaml.findings), ...claimOf(yaml.value) }
  }
  if (yaml.value === undefined || yaml.value === null) {
    const span = { start: 0, end: 1 }
    return unread(blobId, text, [{ code: 'file-empty', args: [], suggestion: '', spans: [span] }])
  }
  return checkObject(blobId, text, yaml)
}

function checkObject(blobId: string, text: string, yaml: YamlDocument): ReadFile {
  const findings: LocalFinding[] = [...yaml.findings]
  const taken = new Set(findings.map(({ spans }) => spans[0].start))
  const report: Report = (code, place, { args = [], suggestion = '', other } = {}) => {
    const others = other === undefined ? [] : [yaml.spanOf(other)]
    const spans = [yaml.spanOf(place), ...others] as const
    // Other findings at the place of a YAML mistake only follow from it.
    if (!taken.has(spans[0].start)) findings.push({ code, args, suggestion, spans })
  }
  const { kind, meant } = checkHeader(yaml.value, report)
  const claim = { ...claimOf(yaml.value), kind }
  if (meant === undefined) return { ...unread(blobId, text, findings), ...claim }
  const faults = validate(meant, yaml.value).filter((fault) => !isOfHeader(fault))
  const object = yaml.value as ObjectOf[Kind]
  if (faults.length > 0 || findings.length > 0) {
    reportFaults(faults, report, meant)
    checkAround(meant, object, [...faultyPaths(faults), ...yaml.doubted()], report)
    return { ...unread(blobId, text, findings), ...claim }
  }
  for (const check of checksOf(meant, report)) check(object)
  if (kind === 'Records') keepAsText(object as ObjectOf['Records'], text)
  return {
    ...unread(blobId, text, findings),
    ...claim,
    object,
    domainKey: domainKeyOf(kind, object),
  }
}

/** The records of the file read last; a file has at most 1 MiB. */
let asked: { readonly text: string; readonly records: RecordsSpec['records'] } | undefined

/**
 * JSON lines may have a million records, which are rarely needed after the compiler's first pass.
 */
function keepAsText(object: ObjectOf['Records'], text: string): void {
  if (!isJsonLines(object)) return
  const get = (): RecordsSpec['records'] => {
    if (asked?.text === text) return asked.records
    const { records } = (JSON.parse(text) as ObjectOf['Records']).spec
    asked = { text, records }
    return records
  }
  Object.defineProperty(object.spec, 'records', { get, enumerable: true, configurable: true })
}

function domainKeyOf(kind: Kind | undefined, object: ObjectOf[Kind]): string | undefined {
  if (kind !== 'Service') return undefined
  return checkName((object as ObjectOf['Service']).spec.domain, true).key
}

/** The parts of a reading that cannot be derived from the others. */
type KeptReading = Pick<ReadFile, 'blobId' | 'text' | 'findings' | 'findingsLeftOut'> & {
  readonly kind: Kind
  readonly object: ObjectOf[Kind]
}

/** Restores the result of `readFile` from its kept parts. */
export function readingOf({ blobId, text, kind, object, ...kept }: KeptReading): ReadFile {
  const { name } = object.metadata
  const { findings, findingsLeftOut } = kept
  const found = findings.length === 0 ? {} : { findings, findingsLeftOut }
  const domainKey = domainKeyOf(kind, object)
  return { ...unread(blobId, text, noFindings), ...found, kind, name, object, domainKey }
}

/** Findings of rules about the valid parts of an object with faulty fields. */
function checkAround(
  kind: Kind,
  object: ObjectOf[Kind],
  faulty: readonly YamlPath[],
  report: Report,
): void {
  lookAround(object, faulty, checksOf(kind, report))
}

/** `meant`: the assumed header, where it is wrong but still tells the kind. */
function checkHeader(
  value: unknown,
  report: Report,
): { readonly kind: Kind | undefined; readonly meant: Kind | undefined } {
  const top: Place = { path: [], at: 'value' }
  if (!isFields(value)) {
    report('object-not-mapping', top, { args: [shown(value)] })
    return { kind: undefined, meant: undefined }
  }
  const { apiVersion: version, kind: given } = value as Record<string, unknown>
  const text = typeof given === 'string' ? given : shown(given)
  const kind = kindNames.find((name) => name === given)
  const near = kind ?? suggest(text, kindNames)
  if (given === undefined) report('kind-missing', top, { args: [kindNames.join(', ')] })
  else if (kind === undefined) {
    const args = [text, kindNames.join(', ')]
    report('kind-unknown', valueAt('kind'), { args, suggestion: near })
  }
  if (near !== undefined && version !== apiVersion) {
    const place = version === undefined ? keyAt('kind') : valueAt('apiVersion')
    report('api-version-wrong', place, { args: [apiVersion, shown(version)] })
  }
  // Kubernetes has a kind Service, too.
  const isOurs =
    version === undefined ||
    (typeof version === 'string' && version.toLowerCase().startsWith('gslb'))
  return { kind, meant: isOurs ? (near as Kind | undefined) : undefined }
}

/** `checkHeader` reports these. */
function isOfHeader(fault: SchemaFault): boolean {
  const [[field] = []] = faultyPaths([fault])
  return field === 'kind' || field === 'apiVersion'
}

/**
 * The kind and name that a faulty file declares, so that references to it are not reported, too.
 */
function claimOf(value: unknown): Pick<ReadFile, 'kind' | 'name'> {
  if (typeof value !== 'object' || value === null) return { kind: undefined, name: undefined }
  const { kind, metadata } = value as Record<string, unknown>
  const name =
    typeof metadata === 'object' && metadata !== null
      ? (metadata as Record<string, unknown>)['name']
      : undefined
  return {
    kind: (kindNames as readonly unknown[]).includes(kind) ? (kind as Kind) : undefined,
    name: typeof name === 'string' ? name : undefined,
  }
}

/**
 * Shared: most files have none, and the garbage collector marks whatever each of ten thousand
 * keeps.
 */
const noFindings: readonly LocalFinding[] = Object.freeze([])
const noneLeftOut: SeverityCounts = Object.freeze(counted([]))

function unread(blobId: string, text: string, findings: readonly LocalFinding[]): ReadFile {
  return {
    blobId,
    text,
    kind: undefined,
    name: undefined,
    object: undefined,
    domainKey: undefined,
    findings: findings.length === 0 ? noFindings : findings.slice(0, findingsPerFileMax),
    findingsLeftOut:
      findings.length <= findingsPerFileMax
        ? noneLeftOut
        : counted(findings.slice(findingsPerFileMax)),
    memo: {
      round: 0,
      uid: '',
      settings: undefined,
      mapRules: undefined,
      routing: undefined,
      addresses: undefined,
      hasHostname: undefined,
      spans: undefined,
    },
  }
}

function counted(findings: readonly LocalFinding[]): SeverityCounts {
  const counts = { error: 0, warning: 0, note: 0 }
  for (const { code } of findings) counts[diagnosticSpecs[code].severity]++
  return counts
}

function firstBadByte(bytes: Uint8Array): number {
  // Finds the longest valid prefix by bisection: each try is one native pass.
  let good = 0
  let bad = bytes.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, middle), { stream: true })
      good = middle
    } catch {
      bad = middle
    }
  }
  return good
}
