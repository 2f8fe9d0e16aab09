// Redirects as HTTPRoutes of the Kubernetes Gateway API.
import { isDeepStrictEqual } from 'node:util'
import type * as Kubernetes from '@kubernetes/client-node'
import type { CustomObjectsApi, Observable, ObservableMiddleware } from '@kubernetes/client-node'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { httpLimits } from '#integrations/http/json-client.ts'
import { isMark, patternOf } from './rule.ts'
import type { PushedRedirect } from './rule.ts'
import { changesOf, writeEach } from './target.ts'
import type { Change, RedirectTarget } from './target.ts'

export interface GatewaySettings {
  /** A path; empty: the account of the pod that this runs in. */
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
const plural = 'httproutes'
const managedBy = { 'app.kubernetes.io/managed-by': 'gslbd' }
/** Routes of one answer. */
const pageMax = 500

const clientPackage = '@kubernetes/client-node'
const notInstalled =
  `the package ${clientPackage} is not installed: run "npm install ${clientPackage}@2" in the ` +
  'folder of gslbd, and start it again'

/** @param load of the client, which a default install does not bring */
export function createGateway(
  settings: GatewaySettings,
  load: LoadClient = () => import('@kubernetes/client-node'),
): RedirectTarget {
  const namespace = settings.httprouteNamespace
  const where = { group, version, plural, namespace }
  return {
    name: 'gateway-api',
    look: async (all, signal) => {
      const skipped = all.flatMap((one) => skippedFor(one))
      const wanted = all.filter(({ mark }) => skipped.every((other) => other.mark !== mark))
      const client = await clientOf(settings.kubeconfig, load)
      if (!client.ok) return client
      const call = caller(client.value, signal)
      const there = new Map<string, HttpRoute>()
      for (let next: string | undefined = ''; next !== undefined;) {
        const labelSelector = Object.entries(managedBy).map((pair) => pair.join('='))[0]!
        const page = await call((api, options) =>
          api.listNamespacedCustomObject(
            {
              ...where,
              labelSelector,
              limit: pageMax,
              ...(next === '' ? {} : { _continue: next! }),
            },
            options,
          ),
        )
        if (!page.ok) return page
        const { items, metadata } = page.value as {
          readonly items?: readonly HttpRoute[]
          readonly metadata?: { readonly continue?: string }
        }
        if (!Array.isArray(items)) return err('Kubernetes listed HTTPRoutes that are no list')
        for (const route of items as readonly HttpRoute[]) {
          if (isMark(route.metadata.name)) there.set(route.metadata.name, route)
        }
        next = metadata?.continue === '' ? undefined : metadata?.continue
      }
      const changes = changesOf(wanted, there, (one, route) => isSame(specOf(one, settings), route))
      const byMark = new Map(wanted.map((one) => [one.mark, one]))
      return ok({
        changes,
        skipped,
        apply: (applying) => {
          const send = caller(client.value, applying)
          const write = ({ verb, mark }: Change) =>
            send((api, options) => {
              if (verb === 'delete') {
                return api.deleteNamespacedCustomObject({ ...where, name: mark }, options)
              }
              const body = routeOf(byMark.get(mark)!, settings, there.get(mark))
              return verb === 'create'
                ? api.createNamespacedCustomObject({ ...where, body }, options)
                : api.replaceNamespacedCustomObject({ ...where, name: mark, body }, options)
            })
          return writeEach(changes, write, applying)
        },
      })
    },
  }
}

/** Hostname and PreciseHostname of the Gateway API: no underscores, no IPv6. */
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
      // The version makes the server refuse to overwrite what somebody has changed meanwhile.
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: specOf(one, settings),
  }
}

/** The API has 301 and 302 alone: the nearest of a 308 or 307, which a browser's GET is sure of. */
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

/** The server may add defaults, at the top. */
function isSame(spec: Readonly<Record<string, unknown>>, route: HttpRoute): boolean {
  return Object.entries(spec).every(([key, value]) => isDeepStrictEqual(route.spec[key], value))
}

interface Client {
  readonly api: CustomObjectsApi
  readonly Observable: new <T>(promise: Promise<T>) => Observable<T>
}

type Options = Parameters<CustomObjectsApi['listNamespacedCustomObject']>[1]
type Call = (
  send: (api: CustomObjectsApi, options: Options) => Promise<unknown>,
) => Promise<Result<unknown, string>>

/** Each request in bounded time. */
function caller({ api, Observable }: Client, signal: AbortSignal): Call {
  return async (send) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(httpLimits.timeoutMs)])
    const bounds: ObservableMiddleware = {
      pre: (context) => {
        context.setSignal(limit)
        return new Observable(Promise.resolve(context))
      },
      post: (context) => new Observable(Promise.resolve(context)),
    }
    const options: Options = { middleware: [bounds], middlewareMergeStrategy: 'append' }
    try {
      return ok(await send(api, options))
    } catch (error) {
      if (signal.aborted) return err('Kubernetes took too long, all requests together')
      if (limit.aborted) {
        return err(`Kubernetes did not answer within ${httpLimits.timeoutMs / 1000} s`)
      }
      return err(`Kubernetes refused: ${reasonOf(error)}`)
    }
  }
}

function reasonOf(error: unknown): string {
  const { code, body, message, cause } = error as {
    readonly code?: number | string
    readonly body?: unknown
    readonly message?: string
    readonly cause?: NodeJS.ErrnoException
  }
  const said = messageIn(body)
  if (code === 401 || code === 403) return `${code} (look at the credentials)${colon(said)}`
  // The client's own message has all headers in it.
  const own = typeof code === 'number' ? '' : (cause?.code ?? message ?? '')
  const text = said ?? (typeof body === 'string' ? body : own)
  return code === undefined ? shown(text) : `${code}${colon(text)}`
}

/** The message of a Status, which the client gives as text in some answers. */
function messageIn(body: unknown): string | undefined {
  try {
    const status = (typeof body === 'string' ? JSON.parse(body) : body) as { message?: unknown }
    return typeof status?.message === 'string' ? status.message : undefined
  } catch {
    return undefined
  }
}

function colon(text: string | undefined): string {
  return text === undefined || text === '' ? '' : `: ${shown(text)}`
}

function shown(text: string): string {
  return text.slice(0, httpLimits.shownCharactersMax).replaceAll(/\s+/g, ' ').trim()
}

type LoadClient = () => Promise<
  Pick<typeof Kubernetes, 'KubeConfig' | 'CustomObjectsApi' | 'Observable'>
>

/** Loaded when it is used: it is large. */
async function clientOf(path: string, load: LoadClient): Promise<Result<Client, string>> {
  const loaded = await load().catch((error: unknown) => error as Error)
  if (loaded instanceof Error) {
    const isMissing = (loaded as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND'
    return err(
      isMissing ? notInstalled : `${clientPackage} cannot be loaded: ${shown(loaded.message)}`,
    )
  }
  const { KubeConfig, CustomObjectsApi, Observable } = loaded
  const config = new KubeConfig()
  try {
    if (path === '') config.loadFromCluster()
    else config.loadFromFile(path)
    if (config.getCurrentCluster() === null) return err(`${path} has no cluster to talk to`)
    return ok({ api: config.makeApiClient(CustomObjectsApi), Observable })
  } catch (error) {
    const place = path === '' ? 'the account of the pod' : path
    // The lines after the first are those of the file, which has secrets.
    const [reason = ''] = (error as Error).message.split('\n')
    return err(`${place} cannot be used: ${shown(reason)}`)
  }
}
