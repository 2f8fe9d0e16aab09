// Composes what finds addresses of members: the resolver of host names, with the last good
// addresses, and discovery.
import { randomInt, sign, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinSources } from '#inputs/resolve/address-source.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'
import { HostnameResolver } from '#inputs/resolve/hostname-resolver.ts'
import { createDnsLookup } from '#inputs/resolve/lookup.ts'
import { secretOf } from '#integrations/targets/credentials.ts'
import { Discovery } from '#integrations/discovery/discovery.ts'
import type { KindParts, SourceSettings } from '#integrations/targets/kind.ts'
import { kindNamed } from '#integrations/discovery/kinds.ts'
import type { Source } from '#integrations/discovery/query.ts'
import { FleetTeller } from '#integrations/discovery/fleet-teller.ts'
import type { SigningKey, TrustedKey } from '#bundle/signature/channel.ts'
import type { KeptTexts } from '#state/ports/kept-texts.ts'
import type { SignerOf, SignText } from '#integrations/targets/fleet-document.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { parseDuration } from '#lib/duration.ts'
import type { Log } from '#lib/log.ts'
import { Random } from '#lib/random.ts'
import { systemAfter } from '#lib/timer.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { createFileLastAddresses } from '#state/file/last-addresses.ts'
import { createFileLastMembers } from '#state/file/last-members.ts'
import type { Settings } from '#settings/settings.ts'

interface FindsAddresses {
  readonly resolver: AddressSource
  readonly discovery: Discovery
}

/** How nodes tell each other what their sources find. */
export interface FleetOfSources {
  readonly store: KeptTexts
  /** null: this node tells nothing that others would believe. */
  readonly key: SigningKey | null
  readonly trusted: readonly TrustedKey[]
}

interface SourcesParts {
  readonly settings: Settings
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
}

export function createAddressSources(
  { settings, env, log }: SourcesParts,
  dataDir: string,
  fleet: FleetOfSources,
): FindsAddresses {
  const { dns } = settings
  const file = join(dataDir, 'resolved', 'members.jsonl')
  const discovery = new Discovery({
    sources: sourcesOf(settings, env, fleet),
    fleet: tellerOf(settings, fleet, log),
    allowLocal: dns.allowLocalTargets,
    last: createFileLastMembers(file, systemClock, log),
    clock: systemClock,
    after: systemAfter,
    random: new Random(randomInt(0x1_0000_0000)),
    log,
  })
  return { resolver: joinSources(createNodeResolver(settings, dataDir, log), discovery), discovery }
}

function createNodeResolver({ dns }: Settings, dataDir: string, log: Log): HostnameResolver {
  return new HostnameResolver({
    lookup: createDnsLookup(dns.resolvers),
    allowLocal: dns.allowLocalTargets,
    last: createFileLastAddresses(join(dataDir, 'resolved', 'addresses.jsonl'), systemClock, log),
    clock: systemClock,
    after: systemAfter,
    random: new Random(randomInt(0x1_0000_0000)),
    log,
  })
}

function tellerOf(
  { discovery }: Settings,
  { store, key }: FleetOfSources,
  log: Log,
): FleetTeller | null {
  if (!discovery.share || key === null) return null
  return new FleetTeller({ store, sign: signatureBy(key), clock: systemClock, log })
}

function sourcesOf(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  { store, trusted }: FleetOfSources,
): ReadonlyMap<string, Source> {
  const { resolvers } = settings.dns
  const lookup = createDnsLookup(resolvers)
  const sources = sourceSettings(settings.discovery).map((source): [string, Source] => {
    const kind = kindNamed(source.type)
    assert(kind !== undefined, 'the types of the settings are in the table of kinds')
    const parts: KindParts = {
      secret: (what) => secretOf(source.name, what, env, (path) => readFileSync(path, 'utf8')),
      ...{ env, lookup, resolvers, nowMs: systemClock.nowMs },
      fleet: { read: store.read, signerOf: signerAmong(trusted) },
    }
    return [source.name, { settings: source, kind, ask: kind.create(source, parts) }]
  })
  return new Map(sources)
}

function sourceSettings({
  sources,
  maxRemoved,
  removeAfterMs,
}: Settings['discovery']): readonly SourceSettings[] {
  return Object.entries(sources).map(([name, written]) => {
    const { tenants = [defaultTenant], ...texts } = written
    const textOf = (key: string): string => String(texts[key] ?? '')
    return {
      ...{ name, type: textOf('type'), path: textOf('path'), user: textOf('user') },
      kubeconfig: textOf('kubeconfig'),
      url: textOf('url').replace(/\/$/, ''),
      service: textOf('service').toLowerCase(),
      intervalMs: milliseconds(textOf('interval') || '30s'),
      timeoutMs: milliseconds(textOf('timeout') || '10s'),
      weightLabel: (textOf('weightLabel') || 'weight').toLowerCase(),
      tenants: typeof tenants === 'string' ? [tenants] : tenants,
      removeAfterMs,
      maxRemoved: maxRemoved / 100,
    }
  })
}

function milliseconds(text: string): number {
  const parsed = parseDuration(text)
  assert(parsed.ok, 'the settings have durations that were checked')
  return parsed.value
}

/** For a node that pulls: it tells nothing. */
export const readsFleet = (
  { fleetTargets: store }: { readonly fleetTargets: KeptTexts },
  trusted: readonly TrustedKey[],
): FleetOfSources => ({ store, key: null, trusted })

/** A signature of it is none of anything else. */
const domain = 'gslb/discovered/v1\0'

/** @returns the id of the key, a dot, and the signature in base64url */
const signatureBy =
  ({ keyId, privateKey }: SigningKey): SignText =>
  (text) =>
    `${keyId}.${sign(null, Buffer.from(domain + text), privateKey).toString('base64url')}`

const signerAmong =
  (trusted: readonly TrustedKey[]): SignerOf =>
  (text, signature) => {
    const [keyId, octets = ''] = signature.split('.')
    const key = trusted.find((one) => one.keyId === keyId)
    const signed = Buffer.from(domain + text)
    const isTheirs =
      key !== undefined && verify(null, signed, key.publicKey, Buffer.from(octets, 'base64url'))
    return isTheirs ? keyId : undefined
  }
