// Derives zone transfers, NOTIFY and updates from the settings.
import type { Settings } from '#settings/settings.ts'
import { formatAddress, parseAddress } from '#dns/address.ts'
import { foldName, formatName, parseName } from '#dns/name.ts'
import { isSigned } from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { systemAfter } from '#lib/timer.ts'
import { watchMissingGeo } from '#server/node/missing-geo.ts'
import type { DnsNode } from '#server/node/node.ts'
import { writtenTypes } from '#state/ports/dynamic-dns.ts'
import { networksOf } from '#routing/tables/network-list.ts'
import { Notifier } from '#zones/notify/notifier.ts'
import type { NotifyTarget } from '#zones/notify/notifier.ts'
import { historyLimits } from '#zones/transfer/limits.ts'
import { setsBindRefuses } from '#zones/transfer/sets-bind-refuses.ts'
import { transferredZones, zoneNames } from '#zones/transfer/zone-records.ts'
import type { PrincipalGrant } from '#zones/update/update-writers.ts'
import type { TransferSettings } from '#zones/transfer/transfers.ts'

type Dns = Settings['dns']

export function transfersOf({ axfr }: Dns): TransferSettings {
  const { enabled, requireTsig, allow, zonemd, history } = axfr
  return {
    ...{ enabled, requireTsig, zonemd, allow: networksOf(allow) },
    catalog: wireOf(axfr.catalog)[0],
    history: {
      ...historyLimits,
      changesMax: history.changes,
      bytesMax: history.maxMegabytes * 1024 * 1024,
      ageMaxMs: history.maxAgeMs,
    },
  }
}

/**
 * Tells secondaries and the log what each bundle changes.
 *
 * @param find the TSIG key of a name; undefined: there is none
 */
export function announceBundles(
  { dns, roles }: Pick<Settings, 'dns' | 'roles'>,
  node: Pick<DnsNode, 'bundle' | 'live' | 'onServed'>,
  find: (name: Uint8Array) => TsigKey | undefined,
  log: Log,
): Notifier {
  const keyName = notifyKeyOf(dns)
  const { catalog, enabled } = transfersOf(dns)
  const answersDns = roles.includes('dns')
  const notifier = new Notifier({
    targets: answersDns && enabled ? notifyTargetsOf(dns) : [],
    source: notifySourceOf(dns),
    keyName: dns.axfr.notifyKey,
    zones: () => notifiedZones(node.bundle(), catalog),
    key: () => keyName && find(keyName),
    nowMs: systemClock.nowMs,
    after: systemAfter,
    log,
  })
  const watch = watchZones(dns, log)
  const watchGeo = answersDns ? watchMissingGeo(node, log) : () => undefined
  node.onServed(() => {
    watch(node.bundle())
    watchGeo()
    notifier.changed()
  })
  return notifier
}

const dnsPort = 53

function notifyTargetsOf({ axfr: { notify } }: Dns): NotifyTarget[] {
  return notify.flatMap((text) => {
    const [, v6, v4, port] = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(text) ?? []
    const address = parseAddress(v6 ?? v4 ?? text)
    if (!address.ok) return []
    return [{ address: formatAddress(address.value), port: Number(port ?? dnsPort) }]
  })
}

/** The source address of NOTIFY: the one listened on; with a wildcard the kernel chooses. */
function notifySourceOf({ listenAddr }: Dns): string {
  return listenAddr === '0.0.0.0' || listenAddr === '::' ? '' : listenAddr
}

/** Numbers of the types of records that updates write. */
export function updateTypesOf({ update }: Dns): ReadonlySet<number> {
  return new Set(update.types.map((name) => writtenTypes[name]))
}

/** What principals of Kerberos may write. */
export function grantsOf({ update: { gssTsig } }: Dns): readonly PrincipalGrant[] {
  return gssTsig.grants.flatMap(({ principal, scope }): PrincipalGrant[] =>
    scope === 'self'
      ? [{ principal, scope }]
      : wireOf(scope).map((name) => ({ principal, scope: name })),
  )
}

/** Apexes in wire form and lower case. */
export function updateZonesOf({ domain, update }: Dns): Uint8Array[] {
  return [domain, ...update.zones].flatMap(wireOf)
}

/** @param catalog the apex of the catalog zone, if there is one */
export function notifiedZones(
  bundle: Bundle | undefined,
  catalog?: Uint8Array,
): readonly Uint8Array[] {
  const names = bundle === undefined ? [] : transferredZones(bundle)
  const isNamed = catalog === undefined || names.some((zone) => Buffer.compare(zone, catalog) === 0)
  return isNamed ? names : [...names, catalog]
}

/** undefined: the setting is empty. */
function notifyKeyOf({ axfr: { notifyKey } }: Dns): Uint8Array | undefined {
  return wireOf(notifyKey)[0]
}

/**
 * Warns about zones that cannot be transferred: the compiler knows neither whether a node transfers
 * zones nor the name of its catalog.
 *
 * @returns to be called with the active bundle whenever it changes
 */
function watchZones(
  dns: Dns,
  log: Pick<Log, 'info' | 'warn' | 'error'>,
): (bundle: Bundle | undefined) => void {
  const watchNames = watchCatalog(transfersOf(dns).catalog, log)
  const watchSets = dns.axfr.enabled ? watchRefused(log) : () => undefined
  const watchSigning = dns.axfr.enabled ? watchSigned(log) : () => undefined
  let served: Bundle | undefined
  return (bundle) => {
    if (bundle === undefined || bundle === served) return
    served = bundle
    watchNames(zoneNames(bundle))
    watchSets(bundle)
    watchSigning(bundle)
  }
}

/** @returns to be called with each active bundle: signed zones are not transferred */
export function watchSigned(log: Pick<Log, 'warn'>): (bundle: Bundle) => void {
  let plain: ReadonlySet<string> = new Set()
  return (bundle) => {
    const names = zoneNames(bundle).map((name) => formatName(name))
    const lost = names.filter((name, zone) => isSigned(bundle, zone) && plain.has(name))
    plain = new Set(names.filter((_, zone) => !isSigned(bundle, zone)))
    const zones = lost.slice(0, zonesShown)
    if (lost.length > 0) log.warn({ zones, others: lost.length - zones.length }, signedNow)
  }
}

const zonesShown = 5
const signedNow =
  'these zones are signed here now, and transferred no more: a secondary server keeps what it ' +
  'had, without signatures, until it expires. Take it out of the NS records and of the zones of ' +
  'that server before the parent has a DS record, else validators take its answers for forgeries'

/** @returns to be called with each active bundle whose zones are transferred */
export function watchRefused(log: Pick<Log, 'info' | 'warn'>): (bundle: Bundle) => void {
  let before = ''
  return (bundle) => {
    const { first, others } = setsBindRefuses(bundle)
    const now = first.length === 0 ? '' : `${first.join()} ${others}`
    if (now === before) return
    before = now
    if (now === '') log.info({}, 'no zone has more than BIND takes as a secondary server')
    else log.warn({ sets: first, others }, tooManyForBind)
  }
}

const tooManyForBind =
  'BIND refuses a zone with more than 100 records of a name and type, or 100 types of a name: ' +
  'where it is a secondary server, raise its max-records-per-type and max-types-per-name, or ' +
  'use fewer'

/** @returns to be called with the zones of each active bundle */
export function watchCatalog(
  catalog: Uint8Array | undefined,
  log: Pick<Log, 'info' | 'error'>,
): (zones: readonly Uint8Array[]) => void {
  let isTaken = false
  return (zones) => {
    if (catalog === undefined) return
    const was = isTaken
    isTaken = zones.some((zone) => Buffer.compare(zone, catalog) === 0)
    if (was === isTaken) return
    const zone = formatName(catalog)
    if (isTaken) log.error({ zone }, catalogTaken)
    else log.info({ zone }, 'the catalog zone is there again')
  }
}

const catalogTaken =
  'gslb.yaml has a zone of the name in dns.axfr.catalog: that zone is served and transferred, ' +
  'and there is no catalog zone. Give dns.axfr.catalog a name of its own, and start this node again'

function wireOf(name: string): Uint8Array[] {
  const wire = parseName(name.endsWith('.') ? name : `${name}.`)
  return name === '' || !wire.ok ? [] : [foldName(wire.value)]
}
