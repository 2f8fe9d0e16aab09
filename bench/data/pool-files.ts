// Many pools of one member as YAML, and the services that use them.
import type { ConfigFile } from './many-files.ts'

const head = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`

const settings = `${head('Settings', 'settings')}spec:
  zones:
    - name: example.com.
      nameservers: [{ name: ns1.example.com., addresses: ["192.0.2.1"] }]
      soa: { mname: ns1.example.com., rname: hostmaster.example.com. }
`

/** Settings, pools `p0`, `p1` … and services `s0`, `s1` …, which use the pools in turn. */
export function* poolFiles(pools: number, services = pools): Generator<ConfigFile> {
  yield { path: 'gslb.yaml', text: settings }
  for (let i = 0; i < pools; i++) {
    const member = `    - { name: m, ipAddress: 10.${i >> 8}.${i & 255}.1, port: 443 }\n`
    const pool = `${head('Pool', `p${i}`)}spec:\n  members:\n${member}`
    yield { path: `tenants/default/pools/p${i}.yaml`, text: pool }
  }
  for (let i = 0; i < services; i++) {
    const spec = `spec: { domain: s${i}.example.com., pool: p${i % pools} }\n`
    const service = `${head('Service', `s${i}`)}${spec}`
    yield { path: `tenants/default/services/s${i}.yaml`, text: service }
  }
}
