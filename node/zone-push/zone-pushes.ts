// Composes the pushes of zones to other servers, as the settings name them.
import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { addressOfMember, uidOf } from '#bundle/format/bundle.ts'
import { isAbsentZone } from '#bundle/load/absent-zones.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { foldName, formatName, parseName } from '#dns/name.ts'
import type { TsigKey } from '#dns/tsig/tsig-key.ts'
import { secretIn } from '#integrations/targets/credentials.ts'
import { hostAndPort } from '#integrations/targets/targets.ts'
import { cloudflareLimits, pushLimits, route53Limits } from '#integrations/zone-push/limits.ts'
import { PacedRequests, realWaits } from '#integrations/zone-push/paced-requests.ts'
import type { PushTarget } from '#integrations/zone-push/push-target.ts'
import { setsOf } from '#integrations/zone-push/record-sets.ts'
import type { RecordSet } from '#integrations/zone-push/record-sets.ts'
import { createCloudflare } from '#integrations/zone-push/targets/cloudflare.ts'
import { createRfc2136 } from '#integrations/zone-push/targets/rfc2136.ts'
import { createRoute53 } from '#integrations/zone-push/targets/route53.ts'
import { ZonePusher } from '#integrations/zone-push/zone-pusher.ts'
import type { PushSettings } from '#integrations/zone-push/zone-pusher.ts'
import { assert } from '#lib/assert.ts'
import type { Clock } from '#lib/clock.ts'
import { parseDuration } from '#lib/duration.ts'
import type { Log } from '#lib/log.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { pushDefaults } from '#settings/pushes/zone-push.ts'
import type { ZonePushSection } from '#settings/pushes/zone-push.ts'
import type { ZonePushStore } from '#state/ports/zone-pushes.ts'
import type { WrittenRecords } from '#zones/dynamic/written-records.ts'
import { readTsigKeyFile } from '#zones/exchange/tsig-key-file.ts'
import { mirroredZone } from '#zones/export/mirrored-zone.ts'
import { createZoneMark } from './zone-mark.ts'

interface ZonePushesParts {
  readonly settings: ZonePushSection
  readonly store: ZonePushStore
  /** undefined: no configuration is active yet. */
  readonly bundle: () => Bundle | undefined
  readonly written: Pick<WrittenRecords, 'snapshot' | 'names' | 'find' | 'revision'>
  /** undefined: nobody has probed it. */
  readonly verdictOf: (memberUid: string, address: string) => boolean | undefined
  readonly env: NodeJS.ProcessEnv
  readonly node: string
  readonly instance: string
  readonly clock: Clock
  readonly log: Log
}

type Written = ZonePushSection['targets'][string]

export class ZonePushes {
  readonly #parts: ZonePushesParts
  readonly pushers: readonly ZonePusher[]
  #content = ''

  constructor(parts: ZonePushesParts) {
    this.#parts = parts
    const { clock } = parts
    const requests: Shared = {
      route53: new PacedRequests(route53Limits.pauseMs, realWaits(clock)),
      cloudflare: new PacedRequests(cloudflareLimits.pauseMs, realWaits(clock)),
    }
    this.pushers = Object.entries(parts.settings.targets).map(([name, written]) => {
      const settings = pushSettings(name, written)
      const target = targetOf(settings, written, parts, requests)
      const wanted = wantedBy(settings, written, parts)
      const { store, node, instance, log, bundle } = parts
      const mark = createZoneMark({
        ...{ zone: settings.zone, bundle, written: parts.written },
        hasServices: hasServices(written),
      })
      const own = { settings, target, store, wanted, mark }
      return new ZonePusher({ ...own, node, instance, clock, log })
    })
  }

  /** To be called every few seconds. */
  async look(): Promise<void> {
    const bundle = this.#parts.bundle()
    // Until then it is not known what a zone has.
    if (bundle === undefined) return
    const content = `${bundle.digest} ${this.#parts.written.revision}`
    const isChanged = content !== this.#content
    this.#content = content
    for (const pusher of this.pushers) {
      if (isChanged) pusher.changed()
      await pusher.look()
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.pushers.map((pusher) => pusher.stop()))
  }
}

function pushSettings(name: string, written: Written): PushSettings {
  const interval = parseDuration(String(written['interval'] ?? pushDefaults.interval))
  const wire = parseName(String(written['zone']))
  assert(interval.ok && wire.ok, 'the settings were checked')
  return {
    ...{ name, type: String(written['type']), zone: formatName(foldName(wire.value)) },
    intervalMs: interval.value,
    isAutomatic: (written['mode'] ?? pushDefaults.mode) === 'auto',
    deletesMax: Number(written['deletesMax'] ?? pushDefaults.deletesMax),
    hasApexNs: written['apexNs'] === true,
  }
}

const hasServices = (written: Written): boolean =>
  (written['services'] ?? pushDefaults.services) === 'answer'

/** What a zone has now, as the settings of a target want it. */
function wantedBy(
  { zone }: PushSettings,
  written: Written,
  { bundle: active, written: now, verdictOf }: ZonePushesParts,
): () => Result<readonly RecordSet[], string> {
  const wire = parseName(zone)
  assert(wire.ok, 'the settings were checked')
  return () => {
    const bundle = active()
    if (bundle === undefined) return err('there is no configuration yet')
    if (isAbsentZone(bundle, zone)) {
      return err(
        `the records of ${zone} are not here: none have come from its primary servers, or they ` +
          'have expired; nothing is taken away at the target',
      )
    }
    const isDown = (member: number): boolean =>
      verdictOf(uidOf(bundle.memberUid, member), addressOfMember(bundle, member)) === false
    const records = mirroredZone(bundle, wire.value, {
      ...{ hasServices: hasServices(written), written: now.snapshot().records },
      ...(written['followHealth'] === true ? { isDown } : {}),
    })
    if (records === undefined) {
      return err(`the configuration has no zone ${zone}; nothing is taken away at the target`)
    }
    const { recordsMax } = pushLimits
    if (records.length > recordsMax) {
      return err(`${zone} has ${records.length} records; at most ${recordsMax} are pushed`)
    }
    return ok([...setsOf(records).values()])
  }
}

interface Shared {
  readonly route53: PacedRequests
  readonly cloudflare: PacedRequests
}

function targetOf(
  { name, type, zone }: PushSettings,
  written: Written,
  { env, clock }: ZonePushesParts,
  requests: Shared,
): PushTarget {
  const textOf = (key: string): string => String(written[key] ?? '')
  const secret = (what: string): Result<string, string> => requiredSecret(name, what, env)
  const url = textOf('url').replace(/\/$/, '')
  const zoneId = textOf('zoneId')
  if (type === 'rfc2136') {
    const server = textOf('server')
    const { address, port } = isIPv6(server) ? { address: server, port: 0 } : hostAndPort(server)
    const key = (): Result<TsigKey, string> => keyOf(textOf('keyFile'), textOf('key'))
    return createRfc2136({ zone, server: { address, port: port || dnsPort }, key, clock })
  }
  if (type === 'route53') {
    const key = () => {
      const [id, hidden] = [secret('ACCESS_KEY_ID'), secret('SECRET_ACCESS_KEY')]
      if (!id.ok) return id
      if (!hidden.ok) return hidden
      const token = secretIn(variableOf(name, 'SESSION_TOKEN'), env, readText)
      if (!token.ok) return token
      const sessionToken = token.value ?? ''
      return ok({ accessKeyId: id.value, secretAccessKey: hidden.value, sessionToken })
    }
    const ofAws = { url: url || 'https://route53.amazonaws.com', zoneId, key, clock }
    return createRoute53({ ...ofAws, requests: requests.route53 })
  }
  assert(type === 'cloudflare', 'the types of the settings are known')
  return createCloudflare({
    ...{ url: url || 'https://api.cloudflare.com/client/v4', zoneId },
    token: () => secret('TOKEN'),
    requests: requests.cloudflare,
  })
}

const dnsPort = 53

const readText = (path: string): string => readFileSync(path, 'utf8')

const variableOf = (name: string, what: string): string =>
  `GSLB_ZONE_PUSH_${name.toUpperCase().replaceAll('-', '_')}_${what}`

function requiredSecret(
  name: string,
  what: string,
  env: NodeJS.ProcessEnv,
): Result<string, string> {
  const variable = variableOf(name, what)
  const found = secretIn(variable, env, readText)
  if (!found.ok) return found
  if (found.value !== undefined) return ok(found.value)
  return err(`${variable} is not set; set it, or ${variable}_FILE to a file with it`)
}

/** @param name of the key; empty: the file has one */
function keyOf(path: string, name: string): Result<TsigKey, string> {
  const keys = readTsigKeyFile(path)
  if (!keys.ok) return keys
  const [first] = keys.value
  if (name === '' && keys.value.length === 1) return ok(first!)
  if (name === '') return err(`${path} has ${keys.value.length} keys; name one of them: key`)
  const wanted = `${name.toLowerCase().replace(/\.$/, '')}.`
  const key = keys.value.find((one) => formatName(one.name) === wanted)
  return key === undefined ? err(`${path} has no key ${wanted}`) : ok(key)
}
