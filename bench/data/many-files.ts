// A configuration with many services as YAML files, one for each service and each pool.
import { hash } from 'node:crypto'
import type { SourceFile } from '#compiler/read/source.ts'

export interface ConfigFile {
  readonly path: string
  readonly text: string
}

/** A pool of four members for every ten services. */
const servicesPerPool = 10
const algorithms = ['round-robin', 'weighted-round-robin', 'failover']

const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - name: gslb.example.com.
      nameservers:
        - { name: ns1.gslb.example.com., addresses: ["192.0.2.1"] }
      soa: { mname: ns1.gslb.example.com., rname: hostmaster.example.com., minimum: 30, ttl: 120 }
  defaults:
    nameservers:
      - { name: ns1.gslb.example.com. }
`

/** Settings, `services` services and a tenth as many pools. */
export function manyFiles(services: number): ConfigFile[] {
  const pools = Math.max(1, Math.ceil(services / servicesPerPool))
  return [
    { path: 'gslb.yaml', text: settings },
    ...Array.from({ length: pools }, (_, i) => withPool(i, `10.${(i >> 8) & 255}.${i & 255}.1`)),
    ...Array.from({ length: services }, (_, i) => serviceFile(i)),
  ]
}

/** The file of pool `i`, whose first member has the address `first`. */
export function withPool(i: number, first: string): ConfigFile {
  const rest = [2, 3, 4].map((k) => `10.${(i >> 8) & 255}.${i & 255}.${k}`)
  const members = [first, ...rest].map(
    (address, k) =>
      `    - { name: m${k + 1}, ipAddress: ${address}, port: 443, weight: ${10 - k}, priority: ${k + 1} }\n`,
  )
  const text = `apiVersion: gslb/v1
kind: Pool
metadata: { name: pool${i} }
spec:
  healthCheck: { type: tcp, port: 443 }
  members:
${members.join('')}`
  return { path: `tenants/default/pools/pool${i}.yaml`, text }
}

function serviceFile(i: number): ConfigFile {
  const text = `apiVersion: gslb/v1
kind: Service
metadata: { name: svc${i} }
spec:
  domain: svc${i}.gslb.example.com.
  algorithm: ${algorithms[i % algorithms.length]!}
  ttl: 60
  pool: pool${Math.floor(i / servicesPerPool)}
`
  return { path: `tenants/default/services/svc${i}.yaml`, text }
}

/** A source file as Git lists it. */
export function sourceFile(path: string, text: string): SourceFile {
  const bytes = Buffer.from(text)
  const blobId = hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]))
  return { path, blobId, kind: 'file', sizeBytes: bytes.length, bytes }
}
