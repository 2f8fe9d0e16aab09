// Defines the report that a node sends with its request for a bundle, and checks what arrives.
import { isFields } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface NodeReport {
  readonly name: string
  /** Random, chosen when the process starts: two nodes with the same name differ in it. */
  readonly instance: string
  /** Labels such as `site: fra1` or `canary: "true"`. */
  readonly labels: Readonly<Record<string, string>>
  /** Version of the program. */
  readonly version: string
  readonly role: NodeRole
  /** Seq of the active bundle; 0 and null before the first one. */
  readonly seq: number
  readonly digest: string | null
  /**
   * Id of the key that signed its channel record, since each publisher has its own seq. '': none.
   */
  readonly publisher: string
  /** When its channel record was issued, Unix epoch; null: there is none. */
  readonly issuedAtMs: number | null
  /** Unix epoch, by the node's clock. */
  readonly startedAtMs: number
  /** Time of the report, Unix epoch, by the node's clock. */
  readonly sentAtMs: number
  /** Time within which the next report is sent; older versions leave it out. */
  readonly againMs?: number
  /** Digest of its TXT records that are written at run time; older versions leave it out. */
  readonly texts?: string
  /** What tells its certificate of an ACME server apart; 0: it has none. Left out: it uses none. */
  readonly certificate?: number
  /** Entries of `acme.certificates` that it uses; '': `acme.names`. Left out: that alone. */
  readonly acme?: readonly string[]
  /** What keys of zones are sealed to: base64url of a public half of X25519. Asked with alone. */
  readonly sealTo?: string
  /** Revision of the keys of zones that it was sent; 0: none. Older versions leave it out. */
  readonly keysRevision?: number
  /** True: the node stops, and will not be missed. */
  readonly isLeaving: boolean
  /** True: it refused what a source gave it last. */
  readonly isRefusing: boolean
  /** Codes of its health, as in its `GET /api/v1/health`; older versions leave it out. */
  readonly reasons?: readonly string[]
  /** The last refusals since its start, oldest first. */
  readonly refusals: readonly NodeRefusal[]
  /** CPU time over wall time of its busiest DNS thread, 0 to 1. */
  readonly busyRatio: number
  readonly counters: NodeCounters
  /** null: it computes with no other bundle. */
  readonly shadow: NodeShadow | null
}

/** Results of computing queries with a bundle that the node does not answer from. */
interface NodeShadow {
  readonly digest: string
  /** Queries since it began, and how many have another answer; fractions count. */
  readonly compared: number
  readonly changed: number
}

const nodeRoles = ['control', 'dns', 'agent'] as const
export type NodeRole = (typeof nodeRoles)[number]

export interface NodeRefusal {
  /** Digest of the refused bundle; empty: its record was refused, or there was no bundle. */
  readonly digest: string
  /** A word for programs, such as `bad-bundle`. */
  readonly code: string
  /** The reason in a sentence. */
  readonly reason: string
  /** Unix epoch, by the node's clock. */
  readonly atMs: number
}

/**
 * Counters since the start of the process, which never decrease; the last four are current values.
 */
interface NodeCounters {
  readonly queries: number
  readonly answers: number
  readonly servfail: number
  readonly noCandidate: number
  /** Packets without a reply. */
  readonly dropped: number
  /** Queries that were also computed with another bundle, and those that differed. */
  readonly shadowed: number
  readonly shadowDiffered: number
  /** Time of 99 of 100 answers inside the program; null: it is not measured. */
  readonly p99Us: number | null
  readonly membersHealthy: number
  readonly membersDown: number
  readonly membersWarming: number
  /** Healthy members that are not probed. Older versions leave it out. */
  readonly membersUnprobed?: number
  /** Members without an address. Older versions leave it out. */
  readonly membersUnresolved?: number
}

export const reportLimits = {
  /** Octets of the JSON. */
  bytesMax: 16_384,
  labelsMax: 16,
  versionCharsMax: 63,
  refusalsMax: 5,
  /** More than there are codes. */
  reasonsMax: 40,
  reasonCharsMax: 300,
  /** More than there are entries. */
  entriesMax: 40,
  /** The longest silence of a healthy node. */
  againMsMax: 300_000,
} as const

/** Letters, digits, dots, dashes and underscores: safe in a log, a label and a page. */
export const nodeNamePattern = '^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$'
export const labelKeyPattern = '^[a-z0-9]([a-z0-9._/-]{0,61}[a-z0-9])?$'
export const labelValuePattern = '^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$'

const nameForm = new RegExp(nodeNamePattern)
const labelKeyForm = new RegExp(labelKeyPattern)
const labelValueForm = new RegExp(labelValuePattern)
const instanceForm = /^[0-9a-f]{16,64}$/
const digestForm = /^[0-9a-f]{64}$/
const sealToForm = /^[A-Za-z0-9_-]{43}$/
const publisherForm = /^[0-9a-f]{16}$/
const codeForm = /^[a-z0-9-]{1,40}$/
/** Sums of doubles are exact up to this. */
const countMax = Number.MAX_SAFE_INTEGER

/**
 * Reads the fields that it knows; others are of newer versions. Errors: a sentence with the field.
 */
export function readNodeReport(value: unknown): Result<NodeReport, string> {
  if (!isFields(value)) return err('a report is a JSON object')
  const fault = faultOf(value)
  if (fault !== undefined) return err(`${fault} is missing or has another form`)
  const report = value as unknown as NodeReport
  const { name, instance, labels, version, role, seq, digest, issuedAtMs } = report
  const { publisher, isLeaving, isRefusing, startedAtMs, sentAtMs, refusals, busyRatio, counters } =
    report
  const { againMs, sealTo, keysRevision, texts, certificate, acme, reasons } = report
  return ok({
    ...{ name, instance, version, role, seq, digest, issuedAtMs, startedAtMs, sentAtMs, busyRatio },
    ...{ publisher, isLeaving, isRefusing, labels: { ...labels } },
    ...(againMs === undefined ? {} : { againMs }),
    ...(sealTo === undefined ? {} : { sealTo }),
    ...(keysRevision === undefined ? {} : { keysRevision }),
    ...(texts === undefined ? {} : { texts }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(acme === undefined ? {} : { acme: [...acme] }),
    ...(reasons === undefined ? {} : { reasons: [...reasons] }),
    refusals: refusals.map(({ digest: refused, code, reason, atMs }) => ({
      digest: refused,
      code,
      reason: printable(reason),
      atMs,
    })),
    counters: countersOf(counters),
    shadow: shadowOf(report.shadow),
  })
}

/** The first field that is invalid. */
function faultOf(report: Fields): string | undefined {
  const { labels, refusals, counters, digest, issuedAtMs } = report
  const rows: readonly (readonly [string, boolean])[] = [
    ['name', isText(report['name'], nameForm)],
    ['instance', isText(report['instance'], instanceForm)],
    ['labels', isFields(labels) && areLabels(labels)],
    ['version', isShort(report['version'], reportLimits.versionCharsMax)],
    ['role', nodeRoles.includes(report['role'] as NodeRole)],
    ['seq', isSeq(report['seq'])],
    ['digest', digest === null || isText(digest, digestForm)],
    ['publisher', report['publisher'] === '' || isText(report['publisher'], publisherForm)],
    ['againMs', isPause(report['againMs'])],
    ['sealTo', report['sealTo'] === undefined || isText(report['sealTo'], sealToForm)],
    ['keysRevision', report['keysRevision'] === undefined || isSeq(report['keysRevision'])],
    ['certificate', report['certificate'] === undefined || isSeq(report['certificate'])],
    ['acme', report['acme'] === undefined || areEntries(report['acme'])],
    ['texts', report['texts'] === undefined || isText(report['texts'], digestForm)],
    ['isLeaving', typeof report['isLeaving'] === 'boolean'],
    ['isRefusing', typeof report['isRefusing'] === 'boolean'],
    ['reasons', report['reasons'] === undefined || areCodes(report['reasons'])],
    ['issuedAtMs', issuedAtMs === null || isCount(issuedAtMs)],
    ['startedAtMs', isCount(report['startedAtMs'])],
    ['sentAtMs', isCount(report['sentAtMs'])],
    ['busyRatio', isRatio(report['busyRatio'])],
    ['refusals', Array.isArray(refusals) && areRefusals(refusals)],
    ['counters', isFields(counters) && areCounters(counters)],
    ['shadow', isShadow(report['shadow'])],
  ]
  return rows.find(([, holds]) => !holds)?.[0]
}

function areLabels(labels: Fields): boolean {
  const entries = Object.entries(labels)
  return (
    entries.length <= reportLimits.labelsMax &&
    entries.every(([key, value]) => labelKeyForm.test(key) && isText(value, labelValueForm))
  )
}

const areCodes = (codes: unknown): boolean =>
  Array.isArray(codes) &&
  codes.length <= reportLimits.reasonsMax &&
  codes.every((code) => isText(code, codeForm))

const areEntries = (entries: unknown): boolean =>
  Array.isArray(entries) &&
  entries.length <= reportLimits.entriesMax &&
  entries.every((entry) => entry === '' || isText(entry, labelKeyForm))

function areRefusals(refusals: readonly unknown[]): boolean {
  return (
    refusals.length <= reportLimits.refusalsMax &&
    refusals.every(
      (one) =>
        isFields(one) &&
        (one['digest'] === '' || isText(one['digest'], digestForm)) &&
        isText(one['code'], codeForm) &&
        isShort(one['reason'], reportLimits.reasonCharsMax) &&
        isCount(one['atMs']),
    )
  )
}

const counterNames = [
  'queries',
  'answers',
  'servfail',
  'noCandidate',
  'dropped',
  'shadowed',
  'shadowDiffered',
  'membersHealthy',
  'membersDown',
  'membersWarming',
] as const satisfies readonly Exclude<keyof NodeCounters, 'p99Us'>[]

function areCounters(counters: Fields): boolean {
  const { p99Us, membersUnprobed = 0, membersUnresolved = 0 } = counters
  return (
    (p99Us === null || isCount(p99Us)) &&
    isCount(membersUnprobed) &&
    isCount(membersUnresolved) &&
    counterNames.every((name) => isCount(counters[name]))
  )
}

function countersOf(counters: NodeCounters): NodeCounters {
  const named = Object.fromEntries(counterNames.map((name) => [name, counters[name]]))
  const { p99Us, membersUnprobed, membersUnresolved } = counters
  const later = {
    ...(membersUnprobed === undefined ? {} : { membersUnprobed }),
    ...(membersUnresolved === undefined ? {} : { membersUnresolved }),
  }
  return { ...(named as Omit<NodeCounters, 'p99Us'>), ...later, p99Us }
}

/** Older versions leave it out. */
function isShadow(shadow: unknown): boolean {
  if (shadow === undefined || shadow === null) return true
  return (
    isFields(shadow) &&
    isText(shadow['digest'], digestForm) &&
    isCount(shadow['compared']) &&
    isCount(shadow['changed'])
  )
}

function shadowOf(shadow: NodeShadow | null | undefined): NodeShadow | null {
  if (shadow === undefined || shadow === null) return null
  const { digest, compared, changed } = shadow
  return { digest, compared, changed }
}

/** Replaces control characters: the text is another machine's, and goes into logs and pages. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?')

const isText = (value: unknown, form: RegExp): boolean =>
  typeof value === 'string' && form.test(value)
const isShort = (value: unknown, charsMax: number): boolean =>
  typeof value === 'string' && value.length <= charsMax
const isPause = (value: unknown): boolean =>
  value === undefined || (isCount(value) && (value as number) <= reportLimits.againMsMax)
const isCount = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0 && value <= countMax
/** Far below the numbers to which adding one has no effect. */
const seqMax = 2 ** 52
const isSeq = (value: unknown): boolean =>
  isCount(value) && Number.isInteger(value) && (value as number) <= seqMax
const isRatio = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1
