// Composes what finds addresses of members: the resolver of host names, and discovery.
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinSources } from '#inputs/resolve/address-source.ts'
import type { AddressSource } from '#inputs/resolve/address-source.ts'
import { createDnsLookup } from '#inputs/resolve/lookup.ts'
import { secretOf } from '#integrations/targets/credentials.ts'
import { Discovery } from '#integrations/discovery/discovery.ts'
import type { KindParts, SourceSettings } from '#integrations/targets/kind.ts'
import { kindNamed } from '#integrations/discovery/kinds.ts'
import type { Source } from '#integrations/discovery/query.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { parseDuration } from '#lib/duration.ts'
import type { Log } from '#lib/log.ts'
import { Random } from '#lib/random.ts'
import { systemAfter } from '#lib/timer.ts'
import { defaultTenant } from '#schemas/objects/tenant.ts'
import { createFileLastMembers } from '#state/file/last-members.ts'
import type { Settings } from '#settings/settings.ts'
import { createNodeResolver } from './resolver.ts'

interface FindsAddresses {
  readonly resolver: AddressSource
  readonly discovery: Discovery
}

export function createAddressSources(
  settings: Settings,
  dataDir: string,
  env: NodeJS.ProcessEnv,
  log: Log,
): FindsAddresses {
  const { dns } = settings
  const file = join(dataDir, 'resolved', 'members.jsonl')
  const discovery = new Discovery({
    sources: sourcesOf(settings, env),
    allowLocal: dns.allowLocalTargets,
    last: createFileLastMembers(file, systemClock, log),
    clock: systemClock,
    after: systemAfter,
    random: new Random(randomInt(0x1_0000_0000)),
    log,
  })
  return { resolver: joinSources(createNodeResolver(settings, dataDir, log), discovery), discovery }
}

function sourcesOf(settings: Settings, env: NodeJS.ProcessEnv): ReadonlyMap<string, Source> {
  const { resolvers } = settings.dns
  const lookup = createDnsLookup(resolvers)
  const sources = sourceSettings(settings.discovery).map((source): [string, Source] => {
    const kind = kindNamed(source.type)
    assert(kind !== undefined, 'the types of the settings are in the table of kinds')
    const parts: KindParts = {
      secret: (what) => secretOf(source.name, what, env, (path) => readFileSync(path, 'utf8')),
      ...{ env, lookup, resolvers },
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
