// Lists the reasons why a node that pulls its bundles is degraded.
import { systemClock } from '#lib/clock.ts'
import { missingGeoOn } from '#server/node/missing-geo.ts'
import {
  absentOn,
  absentZonesMessage,
  certificatesFaulty,
  geoMissing,
  faultyOf,
  isWithdrawn,
  keyMissing,
  keysStale,
  keysUnused,
  queryLogLost,
  redisAway,
  missingKeysMessage,
  unusedKeysMessage,
  zoneAbsent,
} from '#node/status/health-reasons.ts'
import type { HealthReason } from '#ports/operator-view.ts'
import type { PulledNode } from './pulled-node.ts'

/** Clocks that are synchronised differ by less. */
const aheadMsMax = 60_000

export const noBundle: HealthReason = {
  code: 'no-bundle',
  message: 'No bundle yet: every query is refused. The log says why no source gave one.',
}

/** Reasons of a node that announces addresses. */
function anycastReasons({ anycast }: PulledNode): readonly Row[] {
  const status = anycast()
  const { driver, reason, isGuarded } = status ?? {}
  const withdrawn = `The addresses of this node are not announced: ${reason}. See the log.`
  return [
    [driver?.isReachable === false, 'bgp-away', 'The BGP daemon cannot be told. See the log.'],
    [isWithdrawn(status), 'addresses-withdrawn', withdrawn],
    [isGuarded === false, 'bgp-unguarded', unguarded],
  ]
}

const unguarded = 'If this node were killed now, its addresses might stay announced. See the log.'

const withoutToken =
  'GSLB_BUNDLE_TOKEN is not set on this node: without it no control node gives it keys.'

/** Reasons of a node that signs. */
function keyReasons(pulled: PulledNode): readonly Row[] {
  const [missing, held] = [pulled.missingKeys(), pulled.keyTroubles()]
  const [stale, certificate] = [pulled.staleKeys(), pulled.staleCertificate()]
  const refusal = pulled.keysRefusal()
  const refused = refusal === '' ? '' : ` No control node gives it: ${refusal}.`
  const why = pulled.hasToken ? refused : ` ${withoutToken}`
  return [
    [missing.length > 0, keyMissing, missingKeysMessage(missing) + why],
    [held.length > 0, keysUnused, unusedKeysMessage(held)],
    [stale !== null, keysStale, stale ?? ''],
    [certificate !== null, 'certificate-stale', certificate ?? ''],
  ]
}

export function healthOf(pulled: PulledNode): { status: string; reasons: readonly HealthReason[] } {
  const { node, dataDir, puller, shared } = pulled
  const { active, expired, refused, isStored } = node.status()
  if (active === null) return { status: 'starting', reasons: [noBundle] }
  const [missing, absent] = [missingGeoOn(node), absentOn(node)]
  const faulty = faultyOf(node.tcpStats?.secure?.certificates ?? [])
  const rows: readonly Row[] = [
    [refused !== null, 'bundle-refused', newestRefused],
    [expired, 'record-expired', recordExpired],
    [active.issuedAtMs - systemClock.nowMs() > aheadMsMax, 'clock-behind', fromFuture],
    [puller.status().sources.every(({ fault }) => fault !== null), 'no-source', noSource],
    [areTextsOld(pulled), 'texts-old', textsOld],
    [!isStored || dataDir.fault() !== null, 'bundle-not-stored', notStored],
    [(pulled.journal?.status().error ?? null) !== null, 'journal-ended', journalEnded],
    [faulty.length > 0, 'tls-certificate', certificatesFaulty(faulty)],
    [absent.length > 0, zoneAbsent, absentZonesMessage(absent)],
    [missing.length > 0, geoMissing, missing.join(' ')],
    [pulled.queryLog?.counts().isFailing === true, 'query-log', queryLogLost],
    [shared.status().state === 'away', 'redis-away', redisAway],
    ...keyReasons(pulled),
    ...anycastReasons(pulled),
  ]
  const reasons = rows.flatMap(([holds, code, message]) => (holds ? [{ code, message }] : []))
  return { status: reasons.length === 0 ? 'ok' : 'degraded', reasons }
}

/** Whether a reason holds, its code, and its message. */
type Row = readonly [holds: boolean, code: string, message: string]

const newestRefused = 'The newest bundle was refused, and the one before serves. See the log.'
const recordExpired = 'The channel record is past its expiry: see the clock and the sources.'
const fromFuture =
  'The channel record is from the future: the clock of this node is behind, or that of the ' +
  'control node is ahead. GET /api/v1/cluster/nodes of a control node says whose differs from the others.'
const noSource = 'No bundle source is of use: the last good bundle serves. See the log.'
const textsOld =
  'TXT records written at run time may have changed: no source gives them. See the log.'
const notStored = 'The data directory cannot be written: a restart would serve an older bundle.'
const journalEnded =
  'The journal cannot be written: answers cannot be explained later. See the log.'

/** Only if there were some: a source of an older version has none. */
function areTextsOld({ texts, puller }: PulledNode): boolean {
  const record = texts?.record
  if (record === undefined) return false
  return puller.areTextsLost() || record.expiresAtMs < systemClock.nowMs()
}

/** What it tells other nodes of its health. */
export const codesOf = (pulled: PulledNode): readonly string[] =>
  healthOf(pulled).reasons.map(({ code }) => code)
