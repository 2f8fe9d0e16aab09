// The table of benchmarks. A new one needs one file and one row here.
import { runAllocation } from './allocation.bench.ts'
import { runAnswer } from './answer.bench.ts'
import { runBundle } from './bundle.bench.ts'
import { runCommit } from './commit.bench.ts'
import { runCompile } from './compile.bench.ts'
import { runFleet } from './fleet.bench.ts'
import { runFlood } from './flood.bench.ts'
import { runHealth } from './health-table.ts'
import { runLatency } from './latency.bench.ts'
import { runMemory } from './memory.bench.ts'
import { runNodes } from './nodes.bench.ts'
import { runPlan } from './plan.bench.ts'
import { runProbing } from './probing.bench.ts'
import { runQueryLog } from './query-log.bench.ts'
import { runRecords } from './records.bench.ts'
import type { Benchmark } from './report.ts'
import { runReads } from './reads.bench.ts'
import { runRedirects } from './redirects.bench.ts'
import { runReplace } from './replace.bench.ts'
import { runRouting } from './routing.bench.ts'
import { runRrl } from './rrl.bench.ts'
import { runSigning } from './signing.bench.ts'
import { runStart } from './start.bench.ts'
import { runSwap } from './swap.bench.ts'
import { runThreads } from './threads.bench.ts'
import { runTransports } from './transports.bench.ts'
import { runWrites } from './writes.bench.ts'

export const benchmarks: readonly Benchmark[] = Object.freeze([
  {
    name: 'answer',
    summary: 'CPU per query: gslbd, gdnsd, Knot, NSD in turn; gslbd and gdnsd at the same instant',
    run: runAnswer,
  },
  {
    name: 'records',
    summary: 'static records: CPU per query beside NSD, and a million of them beside NSD and Knot',
    run: runRecords,
  },
  {
    name: 'latency',
    summary: 'p50 and p99 at 20,000 queries/s: gslbd and gdnsd, alone and at the same instant',
    run: runLatency,
  },
  {
    name: 'threads',
    summary: 'throughput of 1 and 2 responder threads, with and without sockets',
    run: runThreads,
  },
  {
    name: 'routing',
    summary: 'CPU per query by algorithm and filter on tables of a million networks, allocations',
    run: runRouting,
  },
  {
    name: 'allocation',
    summary: 'bytes allocated per query by the answer path and by the batch calls; collections',
    run: runAllocation,
  },
  {
    name: 'query-log',
    summary: 'the query log: CPU per query and allocations, off, on, and with all logged',
    run: runQueryLog,
  },
  {
    name: 'compile',
    summary: '100, 10,000 and 100,000 services to a bundle, cold and after a change of one file',
    run: runCompile,
  },
  {
    name: 'plan',
    summary:
      'gslbd plan of 10,000 services, 100 changed, with the table of the world: time, memory',
    run: runPlan,
  },
  {
    name: 'bundle',
    summary: '10,000 and 1,000,000 services: encode, load, swap, memory',
    run: runBundle,
  },
  {
    name: 'commit',
    summary: 'from a signed commit to the changed answer, in a small and a big repository',
    run: runCommit,
  },
  {
    name: 'writes',
    summary: 'typed writes with 1 to 256 clients: per second, p99, commits; 10,000 pools',
    run: runWrites,
  },
  {
    name: 'reads',
    summary: 'reads of one member over HTTP: per second on one core, CPU, p99',
    run: runReads,
  },
  {
    name: 'redirects',
    summary: 'redirects per core among 100,000 hosts: the listener and nginx with the same map',
    run: runRedirects,
  },
  {
    name: 'signing',
    summary: 'signed answers beside unsigned ones, Knot and PowerDNS that sign on the way: CPU',
    run: runSigning,
  },
  {
    name: 'rrl',
    summary: 'what a rate limit costs an answer, with 1,000 to 300,000 networks of clients',
    run: runRrl,
  },
  {
    name: 'flood',
    summary: 'octets to victims of a flood, and what their neighbours get, with and without limits',
    run: runFlood,
  },
  {
    name: 'transports',
    summary: 'TCP, TLS and HTTPS beside BIND and dnsdist: CPU per query, memory per connection',
    run: runTransports,
  },
  {
    name: 'swap',
    summary: 'a hundred swaps under load: queries lost, failed, and the longest pause',
    run: runSwap,
  },
  {
    name: 'replace',
    summary: 'a process takes the place of another one under load: queries lost',
    run: runReplace,
  },
  {
    name: 'memory',
    summary: 'resident memory of a node with 10,000 services: everything in one, and role dns',
    run: runMemory,
  },
  {
    name: 'start',
    summary: 'first start and restart of 201, 2,001 and 20,001 files: CPU, memory, DNS, API',
    run: runStart,
  },
  {
    name: 'health',
    summary: 'CPU and memory of probing up to 30,000 targets',
    run: runHealth,
  },
  {
    name: 'probing',
    summary: 'answer latency beside 30,000 HTTP probes every 10 s, and without them',
    run: runProbing,
  },
  {
    name: 'fleet',
    summary: 'what 50 simulated nodes with 10,000 members tell each other through Redis',
    run: runFleet,
  },
  {
    name: 'nodes',
    summary:
      'from a commit to five nodes that pull; one service of a million: octets, time, memory',
    run: runNodes,
  },
])
