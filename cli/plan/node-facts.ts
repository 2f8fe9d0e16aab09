// Asks a running node for a plan's inputs: the active commit, and the health of its members.
import { healthIn } from '#judge/simulate/health.ts'
import { trafficIn } from '#judge/clients/traffic-file.ts'
import type { Traffic } from '#judge/clients/traffic.ts'
import { plain } from '#cli/terminal/paint.ts'
import { openNodeApi } from '#cli/watch/node-api.ts'
import type { NodeApi } from '#cli/watch/node-api.ts'
import type { Io } from '#system/process/command.ts'
import { isFields } from '#lib/text/json.ts'
import type { Fields } from '#lib/text/json.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { AssumedHealth } from '#routing/choose/explain.ts'

/** Whether an option names a node, not a commit, directory or file. */
export function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text)
}

interface ActiveCommit {
  readonly oid: string
  /** Sentences. */
  readonly warnings: readonly string[]
}

/** The active commit of a node. Errors: a sentence. */
export async function activeCommitAt(
  url: string,
  env: Io['env'],
): Promise<Result<ActiveCommit, string>> {
  return await asked(url, env, '/api/v1/gitops/status', (status, api) => {
    const { active, accepted, head } = status
    if (active === null) return err(`${api.url} answers from no commit yet: try again later`)
    if (typeof active !== 'string' || !/^[0-9a-f]{40,64}$/.test(active)) return err(noStatus(api))
    const seen = [head, accepted].filter((one) => typeof one === 'string')
    const next = seen.find((one) => one !== active)
    const warnings =
      next === undefined
        ? []
        : [
            `${api.url} answers from ${active.slice(0, 10)}, and has seen ` +
              `${plain(next).slice(0, 10)}: "gslbd status" says why that does not answer`,
          ]
    return ok({ oid: active, warnings })
  })
}

const noStatus = (api: NodeApi): string =>
  `${api.url}/api/v1/gitops/status names no commit: is it the API of gslbd?`

/** Health by which a node answers; members without an entry are healthy. Errors: a sentence. */
export async function healthAt(
  url: string,
  env: Io['env'],
): Promise<Result<ReadonlyMap<string, AssumedHealth>, string>> {
  return await asked(url, env, '/api/v1/health/members', (body, api) =>
    healthIn(body, `${api.url}/api/v1/health/members`),
  )
}

/** Queries of the last hour, by country. Errors: a sentence. */
export async function trafficAt(url: string, env: Io['env']): Promise<Result<Traffic, string>> {
  const path = '/api/v1/client-regions'
  return await asked(url, env, path, (body, api): Result<Traffic, string> => {
    const { hasDatabase, sampled, countries, seconds } = body
    if (hasDatabase === false) {
      return err(`${api.url} has no database of countries, so it counts nobody: set geoip.dbPath`)
    }
    if (sampled === 0) return err(`${api.url} has looked at no query yet: try again later`)
    const rows = Array.isArray(countries) ? (countries as readonly unknown[]) : []
    const counts: Record<string, unknown> = {}
    for (const row of rows) {
      const { country, queries } = (row ?? {}) as Record<string, unknown>
      if (typeof country === 'string') counts[country] = queries
    }
    // A node that has just started has counted for less than a second.
    const length = typeof seconds === 'number' && seconds > 0 ? { seconds } : {}
    return trafficIn({ ...length, sampled, countries: counts }, `${api.url}${path}`)
  })
}

/** Whether an option names measurements of browsers: `rum+https://…`. */
export function isRumUrl(text: string): boolean {
  return text.startsWith(rumScheme) && isUrl(text.slice(rumScheme.length))
}

const rumScheme = 'rum+'

/** Recent reports of browsers to a node, by network. Errors: a sentence. */
export async function reportsAt(rumUrl: string, env: Io['env']): Promise<Result<Traffic, string>> {
  const path = '/api/v1/rum/networks'
  const url = rumUrl.slice(rumScheme.length)
  return await asked(url, env, path, ({ sampled, networks }, api): Result<Traffic, string> => {
    if (typeof networks === 'object' && networks !== null && Object.keys(networks).length === 0) {
      return err(`no browser has measured anything for ${api.url} lately: does a page have rum.js?`)
    }
    // A single report, some time ago, counts less than one.
    const count = typeof sampled === 'number' ? Math.max(1, sampled) : sampled
    return trafficIn({ sampled: count, networks }, `${api.url}${path}`)
  })
}

async function asked<T>(
  url: string,
  env: Io['env'],
  path: string,
  read: (body: Fields, api: NodeApi) => Result<T, string>,
): Promise<Result<T, string>> {
  const api = openNodeApi(url, env)
  if (!api.ok) return api
  const answer = await api.value.json(path)
  if (!answer.ok) return err(answer.error.message)
  if (isFields(answer.value)) return read(answer.value, api.value)
  return err(`${api.value.url}${path} is no object: is it the API of gslbd?`)
}
