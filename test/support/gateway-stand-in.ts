// A stand-in for the Kubernetes API of HTTPRoutes: checks each against the schema of the Gateway
// API, v1.
import { Ajv } from 'ajv'
import { startStandIn } from './http-stand-in.ts'
import type { AskedOf, Given } from './http-stand-in.ts'

interface Route {
  metadata: { name: string; labels?: Readonly<Record<string, string>>; resourceVersion?: string }
  spec: Readonly<Record<string, unknown>>
}

interface GatewayApi {
  readonly url: string
  readonly routes: Map<string, Route>
  readonly faults: readonly string[]
}

const host = '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'
const name = { type: 'string', pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$', maxLength: 253 }
const object = (properties: object, required: readonly string[]) => ({
  ...{ type: 'object', properties, required, additionalProperties: false },
})
const list = (items: object, maxItems = 16) => ({ type: 'array', items, minItems: 1, maxItems })
const pathModifier = object(
  {
    type: { const: 'ReplaceFullPath' },
    replaceFullPath: { type: 'string', maxLength: 1024, pattern: '^/' },
  },
  ['type', 'replaceFullPath'],
)
/** The part of the CRD used by redirects; anything else is refused. */
const schema = object(
  {
    apiVersion: { const: 'gateway.networking.k8s.io/v1' },
    kind: { const: 'HTTPRoute' },
    metadata: object(
      {
        name,
        namespace: name,
        labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63 } },
        resourceVersion: { type: 'string' },
      },
      ['name', 'namespace'],
    ),
    spec: object(
      {
        parentRefs: list(
          object(
            {
              group: { const: 'gateway.networking.k8s.io' },
              kind: { const: 'Gateway' },
              name,
              namespace: name,
            },
            ['name'],
          ),
          32,
        ),
        hostnames: list({ type: 'string', pattern: host, maxLength: 253 }),
        rules: list(
          object(
            {
              matches: list(
                object(
                  {
                    path: object({ type: { const: 'PathPrefix' }, value: { const: '/' } }, [
                      'type',
                    ]),
                  },
                  [],
                ),
              ),
              filters: list(
                object(
                  {
                    type: { const: 'RequestRedirect' },
                    requestRedirect: object(
                      {
                        scheme: { enum: ['http', 'https'] },
                        hostname: { type: 'string', pattern: host.replace('(\\*\\.)?', '') },
                        port: { type: 'integer', minimum: 1, maximum: 65_535 },
                        statusCode: { enum: [301, 302] },
                        path: pathModifier,
                      },
                      [],
                    ),
                  },
                  ['type', 'requestRedirect'],
                ),
              ),
            },
            ['filters'],
          ),
        ),
      },
      ['parentRefs', 'hostnames', 'rules'],
    ),
  },
  ['apiVersion', 'kind', 'metadata', 'spec'],
)
const isRoute = new Ajv({ strict: false }).compile(schema)
const pageMax = 250

export async function startGatewayApi(namespace: string): Promise<GatewayApi> {
  const routes = new Map<string, Route>()
  const faults: string[] = []
  let version = 0
  const base = `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes`
  const fail = (code: number, message: string): Given => {
    faults.push(message)
    return { status: code, body: { kind: 'Status', status: 'Failure', message, code } }
  }
  const listed = (query: URLSearchParams): Given => {
    const selector = query.get('labelSelector')?.split('=') ?? []
    const start = Number(query.get('continue') ?? 0)
    const all = [...routes.values()].filter(
      ({ metadata }) => metadata.labels?.[selector[0] ?? ''] === selector[1],
    )
    const items = all.slice(start, start + Math.min(Number(query.get('limit')), pageMax))
    const end = start + items.length
    const metadata = end < all.length ? { continue: String(end) } : {}
    return { status: 200, body: { items, metadata } }
  }
  const write = ({ method, body }: AskedOf, named: string): Given => {
    if (!isRoute(body)) return fail(422, JSON.stringify(isRoute.errors))
    const route = body as unknown as Route
    const known = routes.get(route.metadata.name)
    if (method === 'PUT' && (known === undefined || named !== route.metadata.name)) {
      return fail(404, named)
    }
    if (method === 'POST' && known !== undefined) return fail(409, 'there is one')
    const { resourceVersion } = route.metadata
    if (method === 'PUT' && resourceVersion !== known?.metadata.resourceVersion) {
      return fail(409, 'another version')
    }
    const metadata = { ...route.metadata, resourceVersion: String(++version) }
    routes.set(route.metadata.name, { ...route, metadata })
    return { status: method === 'POST' ? 201 : 200, body: route }
  }
  const { url } = await startStandIn((asked) => {
    const { method, path, query, headers } = asked
    if (headers['authorization'] !== 'Bearer hush') return { status: 401, body: {} }
    const named = path.slice(base.length + 1)
    if (!path.startsWith(base)) return fail(404, path)
    if (method === 'GET' && named === '') return listed(query)
    if (method === 'DELETE') return { status: routes.delete(named) ? 200 : 404, body: {} }
    return write(asked, named)
  })
  return { url, routes, faults }
}
