// A configuration of many services with different algorithms, and its changed version.
import type { ConfigFile } from './many-files.ts'

const head = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`

const settings = `${head('Settings', 'settings')}spec:
  zones:
    - name: example.com.
      nameservers: [{ name: ns1.example.com., addresses: ["192.0.2.1"] }]
      soa: { mname: ns1.example.com., rname: hostmaster.example.com. }
`
export const chainWay = 'filterChain: [geo-ip, failover]'
const plannedWays = [
  chainWay,
  'filterChain: [geo-ip, sticky]',
  'filterChain: [sticky]',
  'algorithm: round-robin',
  'algorithm: weighted-round-robin',
  'algorithm: failover',
]
const plannedRegions: readonly string[] = ['DE', 'US', 'JP']

/**
 * @param changed number of pools with another first member, spread over all; 0: yields all files
 */
export function* planFiles(
  services: number,
  changed: number,
  { ways = plannedWays, regions = plannedRegions } = {},
): Generator<ConfigFile> {
  if (changed === 0) yield { path: 'gslb.yaml', text: settings }
  const step = changed === 0 ? 1 : Math.floor(services / changed)
  for (let i = 0; i < services; i += step) {
    const members = regions.map((region, k) => {
      const last = k === 0 && changed > 0 ? 9 : k + 1
      const address = `10.${i >> 8}.${i & 255}.${last}`
      return `    - { ipAddress: ${address}, port: 443, region: ${region}, priority: ${k + 1} }\n`
    })
    const pool = `${head('Pool', `p${i}`)}spec:\n  members:\n${members.join('')}`
    yield { path: `tenants/default/pools/p${i}.yaml`, text: pool }
    if (changed > 0) continue
    const spec = `spec: { domain: s${i}.example.com., pool: p${i}, ${ways[i % ways.length]} }\n`
    const service = `${head('Service', `s${i}`)}${spec}`
    yield { path: `tenants/default/services/s${i}.yaml`, text: service }
  }
}
