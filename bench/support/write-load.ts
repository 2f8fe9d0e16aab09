// Clients of the API that change its configuration for a while: run as a process of its own, so
// that its work is not the server's.
import { callApi } from '#test/support/api-client.ts'
import type { ApiCall } from '#test/support/api-client.ts'
import { listed } from './api-daemon.ts'
import type { Listed } from './api-daemon.ts'
import { percentile } from './statistics.ts'

export interface WriteLoad {
  readonly apiPort: number
  readonly bearer: string
  readonly verb: WriteVerb
  /** Each has one request under way. */
  readonly clients: number
  readonly seconds: number
}

export interface WriteLoadRun {
  readonly writes: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly worstMs: number
}

type Call = readonly [method: string, path: string, body?: object]
const calls = {
  update: ({ id }: Listed, n: number): Call => [
    'PUT',
    `/pools/${id}/healthcheck`,
    { type: 'tcp', port: 1 + (n % 60_000) },
  ],
  create: ({ id }: Listed, n: number): Call => [
    'POST',
    '/services',
    { name: `new${n}`, domain: `new${n}.gslb.example.com.`, poolId: id },
  ],
  rename: ({ id, name }: Listed): Call => ['PUT', `/pools/${id}`, { name: `renamed-${name}` }],
  delete: ({ id }: Listed): Call => ['DELETE', `/services/${id}`],
} as const

export type WriteVerb = keyof typeof calls

const load = JSON.parse(process.argv[2] ?? '{}') as WriteLoad
const { bearer, verb } = load
/** What is changed, or what is made belongs to. */
const subjects = await listed(load, verb === 'delete' ? '/services' : '/pools')
const times: number[] = []
const startedMs = performance.now()
let next = 0

async function lane(): Promise<void> {
  while (performance.now() < startedMs + load.seconds * 1_000) {
    const n = next++
    // Each is about another object than those before it: 7,919 is a prime.
    const subject = subjects[(n * 7_919) % subjects.length]!
    const [method, path, body] = calls[verb](subject, n)
    const call: ApiCall = body === undefined ? { bearer } : { bearer, body }
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
