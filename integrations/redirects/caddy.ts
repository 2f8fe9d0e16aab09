// Writes redirects as routes of a Caddy server, through its admin API.
import { isDeepStrictEqual } from 'node:util'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { askJson } from '#integrations/http/json-client.ts'
import { baseOf, isMark } from './rule.ts'
import type { PushedRedirect } from './rule.ts'
import { changesOf } from './target.ts'
import type { Change, RedirectTarget } from './target.ts'

interface CaddySettings {
  readonly adminUrl: string
  readonly serverName: string
}

type Route = Readonly<Record<string, unknown>>

/** Our routes precede others, whose order stays. One write for all, since each one reloads. */
export function createCaddy({ adminUrl, serverName }: CaddySettings): RedirectTarget {
  const base = adminUrl.replace(/\/$/, '')
  const url = `${base}/config/apps/http/servers/${encodeURIComponent(serverName)}/routes`
  return {
    name: 'caddy',
    look: async (wanted, signal) => {
      const answer = await askJson({ url, method: 'GET', signal })
      if (!answer.ok) return answer
      const { json, etag } = answer.value
      const routes = json ?? []
      if (!Array.isArray(routes)) return err('Caddy has routes that are no list')
      const mine = wanted.map(routeOf)
      const next = [...mine, ...(routes as Route[]).filter((route) => !isMark(route['@id']))]
      return ok({
        changes: isDeepStrictEqual(next, routes) ? [] : changes(wanted, routes as Route[]),
        skipped: [],
        apply: (applying) => write(url, json === null, next, etag, applying),
      })
    },
  }
}

function changes(wanted: readonly PushedRedirect[], routes: readonly Route[]): Change[] {
  const there = new Map<string, Route>()
  for (const route of routes) {
    if (isMark(route['@id'])) there.set(route['@id'], route)
  }
  const found = changesOf(wanted, there, (one, route) => isDeepStrictEqual(routeOf(one), route))
  if (found.length > 0 || wanted[0] === undefined) return found
  // All are there, in another order, or after foreign routes.
  return [{ verb: 'update', mark: wanted[0].mark, what: 'the order of the routes' }]
}

async function write(
  url: string,
  isNew: boolean,
  body: readonly Route[],
  etag: string,
  signal: AbortSignal,
): Promise<Result<null, string>> {
  // Refused when somebody has written since the read: then it is read again, later.
  const headers: Record<string, string> = etag === '' ? {} : { 'if-match': etag }
  const method = isNew ? 'PUT' : 'PATCH'
  const answer = await askJson({ url, method, headers, body, signal })
  return answer.ok ? ok(null) : answer
}

function routeOf(one: PushedRedirect): Route {
  const location = baseOf(one) + (one.preservePath ? '{http.request.uri}' : '')
  return {
    '@id': one.mark,
    handle: [
      {
        handler: 'static_response',
        headers: { Location: [location] },
        status_code: one.code,
      },
    ],
    match: [matcherOf(one)],
    terminal: true,
  }
}

/** A `*` of Caddy's host matcher is one label; a redirect's is any number. */
function matcherOf({ host, isWildcard }: PushedRedirect): Route {
  if (!isWildcard) return { host: [host] }
  const pattern = `(?i)^.+\\.${host.replaceAll('.', '\\.')}\\.?$`
  return { vars_regexp: { '{http.request.host}': { pattern } } }
}
