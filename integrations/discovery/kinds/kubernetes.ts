// kubernetes: the ready endpoints of a Service, by its EndpointSlices, which are watched.
import { askJson, askLines, httpLimits } from '#integrations/http/json-client.ts'
import type { JsonRequest } from '#integrations/http/json-client.ts'
import { kubernetesAccess } from '#integrations/http/kubeconfig.ts'
import type { KubernetesAccess } from '#integrations/http/kubeconfig.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fieldsOf, parseJson } from '#lib/text/json.ts'
import { systemAfter } from '#lib/timer.ts'
import type { DiscoveryKind, RawTarget } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import { tooMany } from '#integrations/targets/target-groups.ts'
import { labelsOf } from '#integrations/targets/targets.ts'

const slicesPerPage = 500
const pagesMax = 20
const serviceForm = 'NAMESPACE/NAME'
const name = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The cursor is the version of the list that was read last: the next request watches what changes
 * after it. What a watch tells is only that there is news, and the list says what.
 */
export const kubernetes: DiscoveryKind = {
  name: 'kubernetes',
  needs: [],
  service: 'required',
  serviceForm,
  faultOfService: (service) =>
    name.test(service) ? undefined : `${service} is no ${serviceForm} of a Service`,
  waits: (cursor) => version.test(cursor),
  create:
    ({ kubeconfig, timeoutMs }, { env, nowMs }) =>
    async ({ service, cursor, signal }) => {
      // Read anew: tokens and certificates change.
      const access = kubernetesAccess(kubeconfig, env)
      if (!access.ok) return access
      const slices: Slices = { access: access.value, service, timeoutMs, signal }
      let next = nowMs() < refusedUntilMs(cursor) ? cursor : ''
      const [namespace = ''] = service.split('/')
      if (version.test(cursor)) {
        const seen = await watch(slices, cursor)
        if (!seen.ok) return seen
        if (seen.value === 403 || seen.value === 405) {
          next = `${refused}${nowMs() + discoveryLimits.refusedMs} ${seen.value}`
        } else if (seen.value !== 'news') return ok({ targets: null, cursor: seen.value.version })
      }
      const found = await list(slices)
      if (!found.ok) return found
      const { targets, version: read } = found.value
      return next === ''
        ? ok({ targets, cursor: read })
        : ok({ targets, cursor: next, note: noteOf(next, namespace) })
    },
}

function noteOf(cursor: string, namespace: string): string {
  return cursor.endsWith(' 403')
    ? 'its account may not watch (403): grant it the verb watch on endpointslices of the API ' +
        `group discovery.k8s.io in the namespace ${namespace}; until then it lists each interval`
    : 'its API takes no watch (405); it is asked for a list each interval'
}

/** It has no spaces; 0 would be any version. */
const version = /^(?!0$)[\w.:-]{1,64}$/

/**
 * Begins the cursor of a watch that the server refuses, before the time until it is believed, and
 * the status.
 */
const refused = 'refused until '

function refusedUntilMs(cursor: string): number {
  return cursor.startsWith(refused) ? Number.parseInt(cursor.slice(refused.length), 10) : 0
}

/** What is asked of the EndpointSlices of a Service. */
interface Slices {
  readonly access: KubernetesAccess
  readonly service: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Errors: a sentence. */
async function requestOf(
  { access: { server, credentials }, service, signal }: Slices,
  query: string,
): Promise<Result<JsonRequest, string>> {
  const [namespace = '', own = ''] = service.split('/')
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
  const selector = encodeURIComponent(`kubernetes.io/service-name=${own}`)
  const url = `${server}${path}?labelSelector=${selector}&${query}`
  const { bytesMax } = discoveryLimits
  try {
    return ok({ url, method: 'GET', signal, bytesMax, ...(await credentials(signal)) })
  } catch (error) {
    return err((error as Error).message)
  }
}

async function list(
  slices: Slices,
): Promise<Result<{ readonly targets: readonly RawTarget[]; readonly version: string }, string>> {
  const { host } = new URL(slices.access.server)
  const targets: RawTarget[] = []
  const seen = new Set<string>()
  let read = ''
  let more = ''
  for (let page = 0; page < pagesMax; page++) {
    const next = more === '' ? '' : `&continue=${encodeURIComponent(more)}`
    const request = await requestOf(slices, `limit=${slicesPerPage}${next}`)
    if (!request.ok) return request
    const answer = await askJson(request.value, slices.timeoutMs)
    if (!answer.ok) return answer
    const found = targetsOfSlices(answer.value.json, seen)
    if (!found.ok) return err(`${host}: ${found.error}`)
    targets.push(...found.value)
    if (targets.length > discoveryLimits.targetsMax) return err(tooMany)
    // Later pages may be newer, and a watch of what came since the first leaves nothing out.
    if (page === 0) read = versionOf(answer.value.json)
    more = metadataText(answer.value.json, 'continue')
    if (more === '') return ok({ targets, version: read })
  }
  return err(`${host}: it has more than ${pagesMax} pages of EndpointSlices`)
}

/** How a watch ended; a version: without news, which it has told of up to there. */
type Seen = 'news' | 403 | 405 | { readonly version: string }

/** Waits until slices change, for a while. */
async function watch(slices: Slices, since: string): Promise<Result<Seen, string>> {
  const { watchSeconds, batchMs } = discoveryLimits
  const place = `resourceVersion=${encodeURIComponent(since)}&timeoutSeconds=${watchSeconds}`
  const request = await requestOf(slices, `watch=1&allowWatchBookmarks=true&${place}`)
  if (!request.ok) return request
  const answer = await askLines(
    { ...request.value, statuses: [403, 405, 410] },
    slices.timeoutMs + watchSeconds * 1_000,
    (lines) => newsIn(lines, since),
  )
  if (!answer.ok) return answer
  if (answer.value === 410) return ok('news')
  if (typeof answer.value === 'number') return ok(answer.value === 403 ? 403 : 405)
  const { host } = new URL(slices.access.server)
  if (!answer.value.ok) return err(`${host}: ${answer.value.error}`)
  // A Service that is rolled out changes many times in a moment.
  if (answer.value.value === 'news') {
    await new Promise<void>((resolve) => systemAfter(batchMs, resolve))
  }
  return answer.value
}

/**
 * Reads events of a watch until one of them is news. Errors: half a sentence.
 *
 * @param lines each the JSON of an event
 * @throws what they throw
 */
export async function newsIn(
  lines: AsyncIterable<string>,
  since: string,
): Promise<Result<Exclude<Seen, number>, string>> {
  let last = since
  for await (const line of lines) {
    const { type, object } = fieldsOf(parseJson(line))
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') return ok('news')
    if (type === 'ERROR') {
      const { code, message } = fieldsOf(object)
      // The version is older than what the server remembers.
      if (code === 410) return ok('news')
      const said =
        typeof message === 'string' ? message.slice(0, httpLimits.shownCharactersMax) : ''
      return err(`its watch ended with an error: ${said === '' ? 'it does not say which' : said}`)
    }
    if (type !== 'BOOKMARK') return err('its watch told of something that is no event')
    last = versionOf(object) || last
  }
  return ok({ version: last })
}

/** Empty: it has none that can be watched from. */
function versionOf(json: unknown): string {
  const text = metadataText(json, 'resourceVersion')
  return version.test(text) ? text : ''
}

function metadataText(json: unknown, field: string): string {
  const { [field]: text } = fieldsOf(fieldsOf(json)['metadata'])
  return typeof text === 'string' ? text : ''
}

/**
 * Errors: half a sentence.
 *
 * @param seen addresses and ports that were given already: an endpoint that moves stands in two
 * slices for a while
 */
export function targetsOfSlices(
  json: unknown,
  seen = new Set<string>(),
): Result<readonly RawTarget[], string> {
  const { items } = fieldsOf(json)
  if (!Array.isArray(items)) return err('it is no list of EndpointSlices')
  const targets: RawTarget[] = []
  for (const slice of (items as readonly unknown[]).map(fieldsOf)) {
    const { addressType, endpoints, ports } = slice
    // A slice of names has none that could be answered.
    if (addressType !== 'IPv4' && addressType !== 'IPv6') continue
    const port = fieldsOf((Array.isArray(ports) ? (ports as readonly unknown[]) : [])[0])['port']
    const labels = fieldsOf(fieldsOf(slice['metadata'])['labels'])
    for (const one of (Array.isArray(endpoints) ? (endpoints as unknown[]) : []).map(fieldsOf)) {
      const { addresses, conditions, zone, nodeName } = one
      // Ready unless it says otherwise: the field may be left out.
      if (fieldsOf(conditions)['ready'] === false || !Array.isArray(addresses)) continue
      // Addresses of one endpoint are the same: consumers take the first.
      const [address] = addresses as readonly unknown[]
      if (typeof address !== 'string') return err('one of its endpoints has no address')
      const key = `${address} ${String(port)}`
      if (seen.has(key)) continue
      seen.add(key)
      targets.push({
        address,
        port: typeof port === 'number' ? port : 0,
        labels: labelsOf({ ...labels, zone, node: nodeName }),
      })
    }
  }
  return ok(targets)
}
