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
function anycastReasons({ anycast }: PulledNode): readonly HealthReason[] {
  const status = anycast()
  const { driver, reason, isGuarded } = status ?? {}
  const away = { code: 'bgp-away', message: `The BGP daemon cannot be told. See the log.` }
  const withdrawn = {
    code: 'addresses-withdrawn',
    message: `The addresses of this node are not announced: ${reason}. See the log.`,
  }
  const unguarded = {
    code: 'bgp-unguarded',
    message: 'If this node were killed now, its addresses might stay announced. See the log.',
  }
  return [
    ...(driver?.isReachable === false ? [away] : []),
    ...(isWithdrawn(status) ? [withdrawn] : []),
    ...(isGuarded === false ? [unguarded] : []),
  ]
}

const withoutToken =
  'GSLB_BUNDLE_TOKEN is not set on this node: without it no control node gives it keys.'

/** Reasons of a node that signs. */
function keyReasons(pulled: PulledNode): readonly HealthReason[] {
  const noCertificate = pulled.staleCertificate()
  const [missing, stale, held] = [pulled.missingKeys(), pulled.staleKeys(), pulled.keyTroubles()]
  const refusal = pulled.keysRefusal()
  const refused = refusal === '' ? '' : ` No control node gives it: ${refusal}.`
  const why = pulled.hasToken ? refused : ` ${withoutToken}`
  return [
    ...(missing.length > 0
      ? [{ code: keyMissing, message: missingKeysMessage(missing) + why }]
      : []),
    ...(held.length > 0 ? [{ code: keysUnused, message: unusedKeysMessage(held) }] : []),
    ...(stale === null ? [] : [{ code: 'zone-keys-stale', message: stale }]),
    ...(noCertificate === null ? [] : [{ code: 'certificate-stale', message: noCertificate }]),
  ]
}

export function healthOf(pulled: PulledNode): { status: string; reasons: readonly HealthReason[] } {
  const { node, dataDir, puller, shared } = pulled
  const { active, expired, refused, isStored } = node.status()
  if (active === null) return { status: 'starting', reasons: [noBundle] }
  const [missing, absent] = [missingGeoOn(node), absentOn(node)]
  const faulty = faultyOf(node.tcpStats?.secure?.certificates ?? [])
  const rows: readonly (readonly [boolean, HealthReason])[] = [
    [
      refused !== null,
      {
        code: 'bundle-refused',
        message: 'The newest bundle was refused, and the one before serves. See the log.',
      },
    ],
    [
      expired,
      {
        code: 'record-expired',
        message: 'The channel record is past its expiry: see the clock and the sources.',
      },
    ],
    [
      active.issuedAtMs - systemClock.nowMs() > aheadMsMax,
      {
        code: 'clock-behind',
        message: 'The channel record is from the future: the clock of this node is behind.',
      },
    ],
    [
      puller.status().sources.every(({ fault }) => fault !== null),
      {
        code: 'no-source',
        message: 'No bundle source is of use: the last good bundle serves. See the log.',
      },
    ],
    [
      areTextsOld(pulled),
      {
        code: 'texts-old',
        message:
          'TXT records written at run time may have changed: no source gives them. See the log.',
      },
    ],
    [
      !isStored || dataDir.fault() !== null,
      {
        code: 'bundle-not-stored',
        message: 'The data directory cannot be written: a restart would serve an older bundle.',
      },
    ],
    [
      (pulled.journal?.status().error ?? null) !== null,
      {
        code: 'journal-ended',
        message: 'The journal cannot be written: answers cannot be explained later. See the log.',
      },
    ],
    [faulty.length > 0, { code: 'tls-certificate', message: certificatesFaulty(faulty) }],
    [absent.length > 0, { code: zoneAbsent, message: absentZonesMessage(absent) }],
    [missing.length > 0, { code: geoMissing, message: missing.join(' ') }],
    [pulled.queryLog?.counts().isFailing === true, { code: 'query-log', message: queryLogLost }],
    [shared.status().state === 'away', { code: 'redis-away', message: redisAway }],
  ]
  const held = rows.flatMap(([holds, reason]) => (holds ? [reason] : []))
  const reasons = [...held, ...keyReasons(pulled), ...anycastReasons(pulled)]
  return { status: reasons.length === 0 ? 'ok' : 'degraded', reasons }
}

/** Only if there were some: a source of an older version has none. */
function areTextsOld({ texts, puller }: PulledNode): boolean {
  const record = texts?.record
  if (record === undefined) return false
  return puller.areTextsLost() || record.expiresAtMs < systemClock.nowMs()
}

/** What it tells other nodes of its health. */
export const codesOf = (pulled: PulledNode): readonly string[] =>
  healthOf(pulled).reasons.map(({ code }) => code)
