// What a node tells of itself when it asks for a bundle, and the check of what came over the wire.
import { isFields } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'

export interface NodeReport {
  readonly name: string
  /** Chosen by chance when the process starts: two nodes of one name differ in it. */
  readonly instance: string
  /** Such as `site: fra1` or `canary: "true"`. */
  readonly labels: Readonly<Record<string, string>>
  /** Version of the program. */
  readonly version: string
  readonly role: NodeRole
  /** The bundle that serves: 0 and null before the first one. */
  readonly seq: number
  readonly digest: string | null
  /** Id of the key that signed its channel record: each publisher counts its own seq. '': none. */
  readonly publisher: string
  /** When its channel record was issued, Unix epoch; null: there is none. */
  readonly issuedAtMs: number | null
  /** Unix epoch, by the clock of the node. */
  readonly startedAtMs: number
  /** When it says this, Unix epoch, by the clock of the node. */
  readonly sentAtMs: number
  /** It says the next within so long, where nothing is wrong; versions before did not say. */
  readonly againMs?: number
  /** It stops: nobody is to miss it. */
  readonly isLeaving: boolean
  /** What a source last gave it was refused. */
  readonly isRefusing: boolean
  /** The last ones since its start, oldest first. */
  readonly refusals: readonly NodeRefusal[]
  /** CPU time over wall time of its busiest DNS thread, 0 to 1. */
  readonly busyRatio: number
  readonly counters: NodeCounters
  /** null: it computes with no other bundle. */
  readonly shadow: NodeShadow | null
}

/** What comes of queries with a bundle that the node does not answer from. */
export interface NodeShadow {
  readonly digest: string
  /** Queries since it began, and how many of them have another answer; parts count. */
  readonly compared: number
  readonly changed: number
}

export const nodeRoles = ['control', 'dns', 'agent'] as const
export type NodeRole = (typeof nodeRoles)[number]

export interface NodeRefusal {
  /** Digest of the refused bundle; empty: its record was refused, or there was no bundle. */
  readonly digest: string
  /** A word for programs, such as `bad-bundle`. */
  readonly code: string
  /** A sentence. */
  readonly reason: string
  /** Unix epoch, by the clock of the node. */
  readonly atMs: number
}

/** Counts since the start of the process, which never fall; the last four are of this moment. */
export interface NodeCounters {
  readonly queries: number
  readonly answers: number
  readonly servfail: number
  readonly noCandidate: number
  /** Packets without a reply. */
  readonly dropped: number
  /** Queries that were computed with another bundle, too, and those that differed. */
  readonly shadowed: number
  readonly shadowDiffered: number
  /** Time in the program of 99 of 100 answers; null: nobody measures it. */
  readonly p99Us: number | null
  readonly membersHealthy: number
  readonly membersDown: number
  readonly membersWarming: number
  /** How many of the healthy ones nobody probes. Older versions do not report it. */
  readonly membersUnprobed?: number
}

export const reportLimits = {
  /** Size of the JSON. */
  bytesMax: 16_384,
  labelsMax: 16,
  versionCharsMax: 63,
  refusalsMax: 5,
  reasonCharsMax: 300,
  /** Nobody is silent for longer while all is well. */
  againMsMax: 300_000,
} as const

/** Letters, digits, dots, dashes, underscores: what can stand in a log, a label and a page. */
export const nodeNamePattern = '^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$'
export const labelKeyPattern = '^[a-z0-9]([a-z0-9._/-]{0,61}[a-z0-9])?$'
export const labelValuePattern = '^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$'

const nameForm = new RegExp(nodeNamePattern)
const labelKeyForm = new RegExp(labelKeyPattern)
const labelValueForm = new RegExp(labelValuePattern)
const instanceForm = /^[0-9a-f]{16,64}$/
const digestForm = /^[0-9a-f]{64}$/
const publisherForm = /^[0-9a-f]{16}$/
const codeForm = /^[a-z0-9-]{1,40}$/
/** Up to this, sums of doubles are exact. */
const countMax = Number.MAX_SAFE_INTEGER

/**
 * Takes only what it knows: fields of a newer version are left out. Errors: a sentence that names
 * the field.
 */
export function readNodeReport(value: unknown): Result<NodeReport, string> {
  if (!isFields(value)) return err('a report is a JSON object')
  const fault = faultOf(value)
  if (fault !== undefined) return err(`${fault} is missing or has another form`)
  const report = value as unknown as NodeReport
  const { name, instance, labels, version, role, seq, digest, issuedAtMs } = report
  const { publisher, isLeaving, isRefusing, startedAtMs, sentAtMs, refusals, busyRatio, counters } =
    report
  const { againMs } = report
  return ok({
    ...{ name, instance, version, role, seq, digest, issuedAtMs, startedAtMs, sentAtMs, busyRatio },
    ...{ publisher, isLeaving, isRefusing, labels: { ...labels } },
    ...(againMs === undefined ? {} : { againMs }),
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

/** The first field that is not as it should be. */
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
    ['isLeaving', typeof report['isLeaving'] === 'boolean'],
    ['isRefusing', typeof report['isRefusing'] === 'boolean'],
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
  const { p99Us, membersUnprobed = 0 } = counters
  return (
    (p99Us === null || isCount(p99Us)) &&
    isCount(membersUnprobed) &&
    counterNames.every((name) => isCount(counters[name]))
  )
}

function countersOf(counters: NodeCounters): NodeCounters {
  const named = Object.fromEntries(counterNames.map((name) => [name, counters[name]]))
  const { p99Us, membersUnprobed } = counters
  const unprobed = membersUnprobed === undefined ? {} : { membersUnprobed }
  return { ...(named as Omit<NodeCounters, 'p99Us'>), ...unprobed, p99Us }
}

/** Versions before did not tell. */
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

/** It comes from another machine and goes into logs and pages. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?')

const isText = (value: unknown, form: RegExp): boolean =>
  typeof value === 'string' && form.test(value)
const isShort = (value: unknown, charsMax: number): boolean =>
  typeof value === 'string' && value.length <= charsMax
const isPause = (value: unknown): boolean =>
  value === undefined || (isCount(value) && (value as number) <= reportLimits.againMsMax)
const isCount = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0 && value <= countMax
/** Far below where one more is the same number. */
const seqMax = 2 ** 52
const isSeq = (value: unknown): boolean =>
  isCount(value) && Number.isInteger(value) && (value as number) <= seqMax
const isRatio = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1
