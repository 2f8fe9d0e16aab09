// Writes redirects as HTTPRoutes of the Kubernetes Gateway API.
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { askJson } from '#integrations/http/json-client.ts'
import type { JsonRequest } from '#integrations/http/json-client.ts'
import { kubernetesAccess } from '#integrations/http/kubeconfig.ts'
import type { KubernetesAccess } from '#integrations/http/kubeconfig.ts'
import { isMark, patternOf } from './rule.ts'
import type { PushedRedirect } from './rule.ts'
import { changesOf, hasAll, writeEach } from './target.ts'
import type { Change, RedirectTarget } from './target.ts'

interface GatewaySettings {
  /** A path; empty: the account of this pod. */
  readonly kubeconfig: string
  readonly gatewayName: string
  readonly gatewayNamespace: string
  readonly httprouteNamespace: string
}

interface HttpRoute {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string }
  readonly spec: Readonly<Record<string, unknown>>
}

const group = 'gateway.networking.k8s.io'
const version = 'v1'
const managedBy = { 'app.kubernetes.io/managed-by': 'gslbd' }
/** Routes in one response. */
const pageMax = 500

export function createGateway(settings: GatewaySettings, env: NodeJS.ProcessEnv): RedirectTarget {
  const namespace = encodeURIComponent(settings.httprouteNamespace)
  const base = `/apis/${group}/${version}/namespaces/${namespace}/httproutes`
  return {
    name: 'gateway-api',
    look: async (all, signal) => {
      const skipped = all.flatMap((one) => skippedFor(one))
      const wanted = all.filter(({ mark }) => skipped.every((other) => other.mark !== mark))
      const access = kubernetesAccess(settings.kubeconfig, env)
      if (!access.ok) return access
      const call = caller(access.value, signal)
      const there = new Map<string, HttpRoute>()
      const query = new URLSearchParams({
        labelSelector: Object.entries(managedBy)[0]!.join('='),
        limit: String(pageMax),
      })
      for (let next: string | undefined = ''; next !== undefined;) {
        if (next !== '') query.set('continue', next)
        const page = await call('GET', `${base}?${query.toString()}`)
        if (!page.ok) return page
        const { items, metadata } = Object(page.value) as {
          readonly items?: readonly HttpRoute[]
          readonly metadata?: { readonly continue?: string }
        }
        if (!Array.isArray(items)) return err('Kubernetes listed HTTPRoutes that are no list')
        for (const route of items as readonly HttpRoute[]) {
          if (isMark(route.metadata.name)) there.set(route.metadata.name, route)
        }
        next = metadata?.continue === '' ? undefined : metadata?.continue
      }
      const changes = changesOf(wanted, there, (one, { spec }) =>
        hasAll(spec, specOf(one, settings)),
      )
      const byMark = new Map(wanted.map((one) => [one.mark, one]))
      return ok({
        changes,
        skipped,
        apply: (applying) => {
          const send = caller(access.value, applying)
          const write = ({ verb, mark }: Change) => {
            const path = `${base}/${mark}`
            if (verb === 'delete') return send('DELETE', path)
            const body = routeOf(byMark.get(mark)!, settings, there.get(mark))
            return verb === 'create' ? send('POST', base, body) : send('PUT', path, body)
          }
          return writeEach(changes, write, applying)
        },
      })
    },
  }
}

/** Hostname and PreciseHostname of the Gateway API: without underscores, not IPv6. */
const hostForm = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const pathMax = 1_024

function skippedFor(one: PushedRedirect): { readonly mark: string; readonly reason: string }[] {
  const { hostname, pathname } = new URL(one.target)
  const reason = !hostForm.test(one.host)
    ? `no HTTPRoute can have the host ${one.host}`
    : !hostForm.test(hostname)
      ? `no HTTPRoute can lead to the host ${hostname}`
      : !one.preservePath && pathname.length > pathMax
        ? `no HTTPRoute can lead to a path of more than ${pathMax} characters`
        : ''
  return reason === '' ? [] : [{ mark: one.mark, reason }]
}

function routeOf(one: PushedRedirect, settings: GatewaySettings, found?: HttpRoute): object {
  const { resourceVersion } = found?.metadata ?? {}
  return {
    apiVersion: `${group}/${version}`,
    kind: 'HTTPRoute',
    metadata: {
      name: one.mark,
      namespace: settings.httprouteNamespace,
      labels: managedBy,
      // With the version, the server refuses to overwrite a foreign change.
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: specOf(one, settings),
  }
}

/** The API has only 301 and 302; a GET follows these as it follows 308 and 307. */
const codeOf: Readonly<Record<number, 301 | 302>> = { 301: 301, 308: 301, 302: 302, 307: 302 }

function specOf(
  one: PushedRedirect,
  { gatewayName, gatewayNamespace }: GatewaySettings,
): Readonly<Record<string, unknown>> {
  const url = new URL(one.target)
  const path = url.pathname
  const replaces = !one.preservePath && path !== '/'
  const requestRedirect = {
    scheme: url.protocol.replace(':', ''),
    hostname: url.hostname,
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    statusCode: codeOf[one.code],
    ...(replaces ? { path: { type: 'ReplaceFullPath', replaceFullPath: path } } : {}),
  }
  return {
    parentRefs: [{ group, kind: 'Gateway', name: gatewayName, namespace: gatewayNamespace }],
    hostnames: [patternOf(one)],
    rules: [
      {
        matches: [{ path: { type: 'PathPrefix', value: '/' } }],
        filters: [{ type: 'RequestRedirect', requestRedirect }],
      },
    ],
  }
}

function caller({ server, credentials }: KubernetesAccess, signal: AbortSignal) {
  return async (
    method: JsonRequest['method'],
    path: string,
    body?: object,
  ): Promise<Result<unknown, string>> => {
    let given: Awaited<ReturnType<typeof credentials>>
    try {
      given = await credentials(signal)
    } catch (error) {
      return err(`Kubernetes cannot be asked: ${(error as Error).message}`)
    }
    const url = `${server}${path}`
    const answer = await askJson({ url, method, signal, ...given, ...(body && { body }) })
    return answer.ok ? ok(answer.value.json) : err(`Kubernetes: ${answer.error}`)
  }
}
