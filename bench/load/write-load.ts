// Clients of the API that change its configuration for a while: a separate process, so that their
// work is not the server's.
import { callApi } from '#test/support/api-client.ts'
import type { ApiCall } from '#test/support/api-client.ts'
import { listed } from '../servers/api-daemon.ts'
import type { Listed } from '../servers/api-daemon.ts'
import { percentile } from '../support/statistics.ts'

export interface WriteLoad {
  readonly apiPort: number
  readonly bearer: string
  readonly verb: WriteVerb
  /** Clients with one request each. */
  readonly clients: number
  readonly seconds: number
  /** Number of the first write: no two loads of a daemon set the same values. */
  readonly first: number
}

export interface WriteLoadRun {
  readonly writes: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly worstMs: number
}

type Call = readonly [method: string, path: string, body?: object]
interface Verb {
  /** List of the objects to change, or to which new ones belong. */
  readonly subjects: '/pools' | '/services'
  readonly call: (subject: Listed, n: number) => Call
  readonly headers?: Readonly<Record<string, string>>
}

/** Addresses and names that no other write uses. */
const verbs = {
  update: {
    subjects: '/pools',
    call: ({ id }, n) => ['PUT', `/pools/${id}/healthcheck`, { type: 'tcp', port: 1 + n }],
  },
  /** Ports that no update sets. */
  effect: {
    subjects: '/pools',
    call: ({ id }, n) => ['PUT', `/pools/${id}/healthcheck`, { type: 'tcp', port: 30_001 + n }],
    headers: { 'x-gslb-effect': 'wanted' },
  },
  member: {
    subjects: '/pools',
    call: ({ id }, n) => {
      const ipAddress = `10.200.${n >> 8}.${n & 255}`
      return ['POST', `/pools/${id}/members`, { ipAddress, port: 443 }]
    },
  },
  'new-pool': { subjects: '/pools', call: (_, n) => ['POST', '/pools', { name: `new${n}` }] },
  create: {
    subjects: '/pools',
    call: ({ id }, n) => {
      const domain = `new${n}.example.com.`
      return ['POST', '/services', { name: `new${n}`, domain, poolId: id }]
    },
  },
  rename: {
    subjects: '/pools',
    call: ({ id, name }) => ['PUT', `/pools/${id}`, { name: `renamed-${name}` }],
  },
  delete: { subjects: '/services', call: ({ id }) => ['DELETE', `/services/${id}`] },
  'delete-pool': { subjects: '/pools', call: ({ id }) => ['DELETE', `/pools/${id}`] },
} as const satisfies Record<string, Verb>

export type WriteVerb = keyof typeof verbs

const load = JSON.parse(process.argv[2] ?? '{}') as WriteLoad
const { bearer, verb } = load
const { subjects: list, call: callOf, headers = {} }: Verb = verbs[verb]
const subjects = await listed(load, list)
const times: number[] = []
const startedMs = performance.now()
let next = load.first

async function lane(): Promise<void> {
  while (performance.now() < startedMs + load.seconds * 1_000) {
    const n = next++
    // Consecutive writes are about different objects: 7,919 is a prime.
    const subject = subjects[(n * 7_919) % subjects.length]!
    const [method, path, body] = callOf(subject, n)
    const call: ApiCall = { bearer, headers, ...(body === undefined ? {} : { body }) }
    const sentMs = performance.now()
    const reply = await callApi(load, method, path, call)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
    times.push(performance.now() - sentMs)
  }
}

await Promise.all(Array.from({ length: load.clients }, lane))
const run: WriteLoadRun = {
  writes: times.length,
  seconds: (performance.now() - startedMs) / 1_000,
  p50Ms: percentile(times, 50),
  p99Ms: percentile(times, 99),
  worstMs: Math.max(...times),
}
process.stdout.write(`${JSON.stringify(run)}\n`)
