// Writes redirects as rulesets in the zones of a CDN, in the form of Cloudflare.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { askJson } from '#integrations/http/json-client.ts'
import type { JsonAnswer, JsonRequest } from '#integrations/http/json-client.ts'
import { baseOf, isMark } from './rule.ts'
import type { PushedRedirect } from './rule.ts'
import { changesOf, hasAll, writeEach } from './target.ts'
import type { Change, RedirectTarget } from './target.ts'

interface CdnZoneSettings {
  readonly zoneId: string
  readonly domains?: readonly string[]
}

interface CdnSettings {
  readonly apiUrl: string
  /** A secret. */
  readonly apiToken: string
  readonly zones: readonly CdnZoneSettings[]
}

/** Our rules in a zone, and those it should have. */
interface ZoneState {
  readonly zoneId: string
  /** Empty: the zone has no ruleset of this phase yet. */
  readonly rulesetId: string
  readonly wanted: readonly PushedRedirect[]
  readonly there: ReadonlyMap<string, CdnRule>
  readonly changes: readonly Change[]
}

interface CdnRule {
  readonly id: string
  readonly rule: Readonly<Record<string, unknown>>
}

type Ask = (
  request: Pick<JsonRequest, 'method' | 'body' | 'statuses'> & { readonly path: string },
) => Promise<Result<JsonAnswer, string>>

export function createCdn(settings: CdnSettings): RedirectTarget {
  const base = settings.apiUrl.replace(/\/$/, '')
  const headers = { authorization: `Bearer ${settings.apiToken}` }
  const asker =
    (signal: AbortSignal): Ask =>
    ({ path, ...request }) =>
      askJson({ ...request, url: `${base}${path}`, headers, signal })
  return {
    name: 'cdn',
    look: async (wanted, signal) => {
      const states: ZoneState[] = []
      const placed = new Map(wanted.map((one) => [one, zoneOf(one, settings.zones)?.zoneId]))
      for (const { zoneId } of settings.zones) {
        const mine = wanted.filter((one) => placed.get(one) === zoneId)
        const state = await readZone(asker(signal), zoneId, mine)
        if (!state.ok) return state
        states.push(state.value)
      }
      const homeless = wanted.filter((one) => placed.get(one) === undefined)
      return ok({
        changes: states.flatMap(({ changes }) => changes),
        skipped: homeless.map(({ mark, host }) => ({ mark, reason: `no zone has ${host}` })),
        apply: (applying) => {
          const writes = states.flatMap((state) => writesOf(asker(applying), state))
          return writeEach(writes, (write) => write(), applying)
        },
      })
    },
  }
}

/** The first zone with the host's domain; else the first without domains. */
function zoneOf({ host }: PushedRedirect, zones: readonly CdnZoneSettings[]) {
  const isIn = (domain: string): boolean => {
    const name = domain.toLowerCase().replace(/^\*?\.|\.$/g, '')
    return host === name || host.endsWith(`.${name}`)
  }
  return (
    zones.find(({ domains = [] }) => domains.some(isIn)) ??
    zones.find(({ domains = [] }) => domains.length === 0)
  )
}

const phase = 'http_request_dynamic_redirect'
const entrypointOf = (zoneId: string): string =>
  `/zones/${zoneId}/rulesets/phases/${phase}/entrypoint`

async function readZone(
  ask: Ask,
  zoneId: string,
  wanted: readonly PushedRedirect[],
): Promise<Result<ZoneState, string>> {
  const answer = await ask({ path: entrypointOf(zoneId), method: 'GET', statuses: [404] })
  if (!answer.ok) return answer
  const { result } = (answer.value.json ?? {}) as { readonly result?: unknown }
  const { id: rulesetId = '', rules = [] } = (result ?? {}) as {
    readonly id?: string
    readonly rules?: readonly Readonly<Record<string, unknown>>[]
  }
  if (answer.value.status < 300 && (typeof rulesetId !== 'string' || rulesetId === '')) {
    return err(`the CDN answered for zone ${zoneId} without a ruleset`)
  }
  if (!Array.isArray(rules)) return err(`the CDN has rules of zone ${zoneId} that are no list`)
  const there = new Map<string, CdnRule>()
  for (const rule of rules as readonly Readonly<Record<string, unknown>>[]) {
    const { description, id } = rule
    if (isMark(description)) there.set(description, { id: String(id), rule })
  }
  const changes = changesOf(wanted, there, (one, { rule }) => hasAll(rule, ruleOf(one)))
  return ok({ zoneId, rulesetId, wanted, there, changes })
}

/** A request for each rule, so that foreign ones are never sent. */
function writesOf(ask: Ask, state: ZoneState): readonly (() => ReturnType<Ask>)[] {
  const { zoneId, rulesetId, wanted, there, changes } = state
  if (changes.length === 0) return []
  if (rulesetId === '') {
    const body = { rules: wanted.map(ruleOf) }
    return [() => ask({ path: entrypointOf(zoneId), method: 'PUT', body })]
  }
  const path = `/zones/${zoneId}/rulesets/${rulesetId}/rules`
  const byMark = new Map(wanted.map((one) => [one.mark, one]))
  return changes.map(({ verb, mark }) => () => {
    const one = byMark.get(mark)
    const id = there.get(mark)?.id ?? ''
    // The rule may already be gone.
    if (verb === 'delete') return ask({ path: `${path}/${id}`, method: 'DELETE', statuses: [404] })
    return verb === 'update'
      ? ask({ path: `${path}/${id}`, method: 'PATCH', body: ruleOf(one!) })
      : ask({ path, method: 'POST', body: { ...ruleOf(one!), ...placeOf(one!) } })
  })
}

/** The first match counts, so hosts precede wildcards, which are appended. */
function placeOf({ isWildcard }: PushedRedirect): object {
  return isWildcard ? {} : { position: { before: '' } }
}

function ruleOf(one: PushedRedirect): Readonly<Record<string, unknown>> {
  const base = baseOf(one)
  const target = one.preservePath
    ? { expression: `concat("${base}", http.request.uri)` }
    : { value: base }
  return {
    action: 'redirect',
    action_parameters: { from_value: { status_code: one.code, target_url: target } },
    description: one.mark,
    enabled: true,
    expression: one.isWildcard
      ? `ends_with(http.host, ".${one.host}")`
      : `http.host eq "${one.host}"`,
  }
}
