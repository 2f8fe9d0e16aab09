// consul: the healthy instances of a service of Consul, by blocking queries of its HTTP API.
import { askJson } from '#integrations/http/json-client.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fieldsOf } from '#lib/text/json.ts'
import type { DiscoveryKind, Labels, RawTarget } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import { tooMany } from '#integrations/targets/target-groups.ts'
import { labelsOf } from '#integrations/targets/targets.ts'

/** Consul adds up to a sixteenth to the time that a query may wait. */
const waitMs = discoveryLimits.watchSeconds * 1_000 * (17 / 16)

/** The index of an answer is the cursor: the next query waits for a later one. */
export const consul: DiscoveryKind = {
  name: 'consul',
  needs: ['url'],
  service: 'required',
  faultOfService: (service) =>
    service.includes('/') ? `${service} is no name of a service of Consul` : undefined,
  waits: (cursor) => cursor !== '',
  create:
    ({ url, timeoutMs }, { secret }) =>
    async ({ service, cursor, signal }) => {
      const token = secret('TOKEN')
      if (!token.ok) return token
      const wait = cursor === '' ? '' : `&index=${cursor}&wait=${discoveryLimits.watchSeconds}s`
      const answer = await askJson(
        {
          url: `${url}/v1/health/service/${encodeURIComponent(service)}?passing=1${wait}`,
          method: 'GET',
          headers: token.value === undefined ? {} : { 'x-consul-token': token.value },
          tagHeader: 'x-consul-index',
          bytesMax: discoveryLimits.bytesMax,
          signal,
        },
        timeoutMs + (cursor === '' ? 0 : waitMs),
      )
      if (!answer.ok) return answer
      const targets = targetsOfInstances(answer.value.json)
      if (!targets.ok) return err(`${new URL(url).host}: ${targets.error}`)
      return ok({ targets: targets.value, cursor: nextIndex(cursor, answer.value.etag) })
    },
}

/** Consul requires clients to start anew when an index goes back or is none. */
function nextIndex(before: string, index: string): string {
  if (!/^[1-9]\d{0,18}$/.test(index)) return ''
  return before !== '' && BigInt(index) < BigInt(before) ? '' : index
}

/** Errors: half a sentence. */
export function targetsOfInstances(json: unknown): Result<readonly RawTarget[], string> {
  if (!Array.isArray(json)) return err('it is no list of instances')
  if (json.length > discoveryLimits.targetsMax) return err(tooMany)
  const targets: RawTarget[] = []
  for (const instance of (json as readonly unknown[]).map(fieldsOf)) {
    const service = fieldsOf(instance['Service'])
    const node = fieldsOf(instance['Node'])
    const own = service['Address']
    const address = typeof own === 'string' && own !== '' ? own : node['Address']
    if (typeof address !== 'string') return err('one of its instances has no address')
    const { Port: port } = service
    targets.push({
      address,
      port: typeof port === 'number' ? port : 0,
      labels: labelsOfInstance(service, node),
    })
  }
  return ok(targets)
}

/** Metadata of the instance overrides what Consul says of each instance. */
function labelsOfInstance(
  service: Readonly<Record<string, unknown>>,
  node: Readonly<Record<string, unknown>>,
): Labels {
  const tags = (Array.isArray(service['Tags']) ? service['Tags'] : []) as readonly unknown[]
  const { Passing: weight } = fieldsOf(service['Weights'])
  return new Map([
    ...labelsOf({ weight, dc: node['Datacenter'], node: node['Node'] }),
    [
      'tag',
      tags
        .filter((tag) => typeof tag === 'string')
        .slice(0, discoveryLimits.valuesMax)
        .map((tag) => tag.toLowerCase()),
    ],
    ...labelsOf(fieldsOf(service['Meta'])),
  ])
}
