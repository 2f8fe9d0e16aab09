// kubernetes: the ready endpoints of a Service, by its EndpointSlices.
import { askJson } from '#integrations/http/json-client.ts'
import { kubernetesAccess } from '#integrations/http/kubeconfig.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { fieldsOf } from '#lib/text/json.ts'
import type { DiscoveryKind, RawTarget } from '#integrations/targets/kind.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'
import { tooMany } from '#integrations/targets/target-groups.ts'
import { labelsOf } from '#integrations/targets/targets.ts'

const slicesPerPage = 500
const pagesMax = 20
const name = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export const kubernetes: DiscoveryKind = {
  name: 'kubernetes',
  needs: [],
  service: 'required',
  faultOfService: (service) =>
    name.test(service) ? undefined : `${service} is no NAMESPACE/NAME of a Service`,
  watches: false,
  create:
    ({ kubeconfig, timeoutMs }, { env }) =>
    async ({ service, signal }) => {
      // Read anew: tokens and certificates change.
      const access = kubernetesAccess(kubeconfig, env)
      if (!access.ok) return access
      const { server, credentials } = access.value
      const [namespace = '', own = ''] = service.split('/')
      const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
      const selector = encodeURIComponent(`kubernetes.io/service-name=${own}`)
      const query = `labelSelector=${selector}&limit=${slicesPerPage}`
      const targets: RawTarget[] = []
      const seen = new Set<string>()
      let more = ''
      for (let page = 0; page < pagesMax; page++) {
        let given: Awaited<ReturnType<typeof credentials>>
        try {
          given = await credentials(signal)
        } catch (error) {
          return err((error as Error).message)
        }
        const next = more === '' ? '' : `&continue=${encodeURIComponent(more)}`
        const url = `${server}${path}?${query}${next}`
        const { bytesMax } = discoveryLimits
        const answer = await askJson({ url, method: 'GET', signal, bytesMax, ...given }, timeoutMs)
        if (!answer.ok) return answer
        const found = targetsOfSlices(answer.value.json, seen)
        if (!found.ok) return err(`${new URL(server).host}: ${found.error}`)
        targets.push(...found.value)
        if (targets.length > discoveryLimits.targetsMax) return err(tooMany)
        more = continueOf(answer.value.json)
        if (more === '') return ok({ targets, cursor: '' })
      }
      return err(`${new URL(server).host}: it has more than ${pagesMax} pages of EndpointSlices`)
    },
}

function continueOf(json: unknown): string {
  const { continue: more } = fieldsOf(fieldsOf(json)['metadata'])
  return typeof more === 'string' ? more : ''
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
