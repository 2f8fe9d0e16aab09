// Makes the report that a node sends to control nodes.
import type { Settings } from '#settings/settings.ts'
import type { NodeReport, NodeRole } from '#fleet/nodes/node-report.ts'
import type { Pulled } from '#fleet/puller.ts'
import type { Clock } from '#lib/clock.ts'
import { version } from '#lib/version.ts'
import type { DnsNode } from '#server/node/node.ts'

export interface ReportParts {
  readonly settings: Pick<Settings, 'node' | 'state'>
  readonly role: NodeRole
  /** Unique for this process. */
  readonly instance: string
  readonly startedAtMs: number
  readonly node: Pick<DnsNode, 'status' | 'counters' | 'memberHealth'>
  readonly busyRatio: () => number
  /** Microseconds; null: no recent measurement. Left out: this node does not measure it. */
  readonly p99Us?: () => number | null
  readonly shadow?: ShadowReport
  /** See `NodeReport`; left out: it is sent no keys. */
  readonly keysRevision?: () => number
  /** See `NodeReport`; left out: it uses none. */
  readonly certificate?: (() => number) | undefined
  readonly acme?: readonly string[] | undefined
  /** Codes of its health. Left out: it announces them otherwise. */
  readonly reasons?: () => readonly string[]
  /** Digest of its TXT records; undefined: it has none. */
  readonly texts?: () => string | undefined
  readonly clock: Clock
}

/** Results of computing with another bundle. */
export interface ShadowReport {
  readonly counts: () => NodeReport['shadow']
  readonly totals: () => { readonly compared: number; readonly changed: number }
}

export function nodeReport(parts: ReportParts, pulled: Pulled): NodeReport {
  const { settings, role, instance, startedAtMs, node, busyRatio, clock } = parts
  const { active, publisher } = node.status()
  const texts = parts.texts?.()
  return {
    name: settings.state.nodeName,
    labels: settings.node.labels,
    ...{ instance, version, role, startedAtMs: Math.floor(startedAtMs) },
    seq: active?.seq ?? 0,
    digest: active?.digest ?? null,
    publisher,
    issuedAtMs: active?.issuedAtMs ?? null,
    sentAtMs: Math.floor(clock.nowMs()),
    ...(texts === undefined ? {} : { texts }),
    ...(parts.certificate === undefined ? {} : { certificate: parts.certificate() }),
    ...(parts.acme === undefined ? {} : { acme: parts.acme }),
    ...(parts.reasons === undefined ? {} : { reasons: parts.reasons() }),
    isLeaving: false,
    ...(parts.keysRevision === undefined ? {} : { keysRevision: parts.keysRevision() }),
    ...pulled,
    busyRatio: busyRatio(),
    counters: countersOf(parts),
    shadow: parts.shadow?.counts() ?? null,
  }
}

/** For a control node, which pulls nothing: the last publication that it could not activate. */
export function refusedHere(node: Pick<DnsNode, 'status'>, clock: Clock): Pulled {
  const { refused } = node.status()
  if (refused === null) return { isRefusing: false, refusals: [] }
  const { digest, code, message: reason } = refused
  return { isRefusing: true, refusals: [{ digest, code, reason, atMs: Math.floor(clock.nowMs()) }] }
}

function countersOf({ node, shadow, p99Us }: ReportParts): NodeReport['counters'] {
  const members = node.memberHealth()
  const { compared = 0, changed = 0 } = shadow?.totals() ?? {}
  const counters = {
    ...{ queries: 0, answers: 0, servfail: 0, noCandidate: 0, dropped: 0 },
    ...{ shadowed: compared, shadowDiffered: changed, p99Us: p99Us?.() ?? null },
    membersHealthy: members.healthy,
    membersDown: members.unhealthy,
    membersWarming: members.warming,
    membersUnprobed: members.unprobed,
    membersUnresolved: members.unresolved,
  }
  for (const thread of node.counters()) {
    counters.queries += thread.udpQueries + thread.tcpQueries
    for (const count of Object.values(thread.byRcode)) counters.answers += count
    counters.servfail += thread.byRcode[servfail] ?? 0
    counters.noCandidate += thread.noCandidate
    counters.dropped += thread.dropped
  }
  return counters
}

/** RCODE of RFC 1035 section 4.1.1. */
const servfail = 2
