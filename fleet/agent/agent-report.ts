// Defines the report on members that a probe agent sends to a control node over HTTP, and checks
// what arrives.
import { isIP } from 'node:net'
import { isFields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { nodeNamePattern } from '#fleet/nodes/node-report.ts'

/** The target of a verdict: a member at one of its addresses. */
export interface Owner {
  readonly memberUid: string
  readonly ipAddress: string
}

export interface AgentVerdict extends Owner {
  readonly node: string
  readonly healthy: boolean
  readonly score: number
  readonly rttMs: number
  readonly reason: string
  readonly sinceMs: number
  readonly isWarming: boolean
  readonly atMs: number
}

/** Has the form of the health bus; the receiver sets the times. */
export interface AgentReport {
  readonly node: string
  readonly site: string
  readonly isAgent: true
  readonly changed: readonly AgentVerdict[]
  readonly withdrawn: readonly Owner[]
  readonly atMs: number
}

export const agentReportLimits = {
  /** Octets of the JSON. */
  bytesMax: 524_288,
  /** Members in one message. */
  membersMax: 1_000,
  /** The sender cuts a longer reason; the receiver refuses it. */
  reasonCharsMax: 200,
} as const

const nameForm = new RegExp(nodeNamePattern)
const siteForm = /^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/
const uidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** A day, in milliseconds: no probe takes longer. */
const rttMsMax = 86_400_000

/**
 * Reads the fields that it knows. Errors: a sentence that names the field.
 *
 * @param nowMs Unix epoch
 * @param own name of the receiving node, for whose verdicts a report of the same name would be
 * taken
 */
export function readAgentReport(
  value: unknown,
  nowMs: number,
  own = '',
): Result<AgentReport, string> {
  if (!isFields(value)) return err('words are a JSON object')
  const { node, site, changed, withdrawn } = value
  if (!isText(node, nameForm)) return refused('node')
  if (node === own)
    return err(`node: a control node is ${own}: give the agent another state.nodeName`)
  if (!isText(site, siteForm)) return refused('site')
  if (!isList(changed)) return refused('changed')
  if (!isList(withdrawn)) return refused('withdrawn')
  const words = changed.map((one) => wordIn(one, node, nowMs))
  if (!words.every((word) => word !== undefined)) return refused('changed')
  const owners = withdrawn.map(ownerIn)
  if (!owners.every((owner) => owner !== undefined)) return refused('withdrawn')
  return ok({ node, site, isAgent: true, changed: words, withdrawn: owners, atMs: nowMs })
}

const refused = (field: string) => err(`${field} is missing or has another form`)

function ownerIn(value: unknown): Owner | undefined {
  if (!isFields(value)) return undefined
  const { memberUid, ipAddress } = value
  const isOwner =
    isText(memberUid, uidForm) && typeof ipAddress === 'string' && isAddress(ipAddress)
  return isOwner ? { memberUid, ipAddress } : undefined
}

/** No member has an address with a zone, such as fe80::1%eth0. */
const isAddress = (text: string): boolean =>
  text.length <= 45 && isIP(text) !== 0 && !text.includes('%')

function wordIn(value: unknown, node: string, nowMs: number): AgentVerdict | undefined {
  const owner = ownerIn(value)
  if (owner === undefined || !isFields(value)) return undefined
  const { healthy, score, rttMs, reason = '', sinceMs = 0, isWarming = false } = value
  const areFlags = typeof healthy === 'boolean' && typeof isWarming === 'boolean'
  const areNumbers =
    isNumber(score, 1) && isNumber(rttMs, rttMsMax) && isNumber(sinceMs, Number.MAX_SAFE_INTEGER)
  const isReason = typeof reason === 'string' && reason.length <= agentReportLimits.reasonCharsMax
  if (!areFlags || !areNumbers || !isReason) return undefined
  const said = { healthy, score, rttMs, reason: printable(reason), sinceMs, isWarming }
  return { ...owner, node, ...said, atMs: nowMs }
}

/** Replaces control characters: the text is another machine's, and goes into logs and pages. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?')

const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= agentReportLimits.membersMax
const isText = (value: unknown, form: RegExp): value is string =>
  typeof value === 'string' && value.length <= 253 && form.test(value)
const isNumber = (value: unknown, max: number): value is number =>
  typeof value === 'number' && value >= 0 && value <= max
