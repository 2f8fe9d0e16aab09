// Measures how nodes share members' health through Redis: messages, octets, CPU, and the time from
// a failure until every node answers differently. With every node probing, and with few.
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '#lib/random.ts'
import { redisCli, startRedis } from '#test/support/redis-server.ts'
import type { RedisServer } from '#test/support/redis-server.ts'
import { fixed } from './report.ts'
import type { BenchContext, Report } from './report.ts'
import { SimulatedFleet } from './servers/simulated-fleet.ts'
import type { FleetShape } from './servers/simulated-fleet.ts'
import { percentile } from './support/statistics.ts'

const intervalMs = 10_000
/** Nodes that keep all verdicts; fifty in one process would need fifty tables. */
const wholeNodes = 2
const failures = 20
/** Share of verdicts whose round trip time changes each second. */
const jitterShare = 0.01
const random = new Random(7)

interface Shape extends FleetShape {
  readonly title: string
}

const shapes: readonly Shape[] = [
  { title: 'all of 50 probe', nodes: 50, sites: 5, members: 1_000, probers: 0 },
  { title: '2 of 10 in each of 5 sites', nodes: 50, sites: 5, members: 10_000, probers: 2 },
]
const quickShape: Shape = { title: 'quick', nodes: 6, sites: 2, members: 200, probers: 2 }

export async function runFleet({ isQuick, say }: BenchContext): Promise<Report> {
  const traffic: string[][] = []
  const delays: string[][] = []
  const figures: Record<string, Report['figures'][string]> = {}
  for (const shape of isQuick ? [quickShape] : shapes) {
    say(shape.title)
    const redis = await startRedis()
    const fleet = new SimulatedFleet(shape, redis.url)
    try {
      await fleet.start(wholeNodes)
      const head = [shape.title, `${shape.members}`, `${fleet.words}`]
      const quiet = await measured(redis, isQuick ? 1_000 : 5_000)
      const period = isQuick ? 2_000 : intervalMs + 2_000
      const jitter = fleet.jitter(jitterShare, period, 3)
      const failed = fail(fleet, isQuick ? 500 : intervalMs * 0.95)
      const busy = await measured(redis, period)
      await jitter
      traffic.push([...head, 'nothing', ...quiet], [...head, '1 % of words / s', ...busy])
      const { reachedMs, changed } = await failed
      delays.push([...head.slice(0, 2), ...reachedMs, ...changed.map((ms) => fixed(ms / 1_000, 1))])
      figures[`fleet.${shape.probers}.failure`] = { value: changed[0]!, unit: 'ms', n: failures }
    } finally {
      fleet.close()
      await redis.stop()
    }
  }
  return {
    tables: [
      {
        title: 'Words of a fleet through Redis',
        columns: [
          ...['who probes', 'members', 'words', 'what changes', 'messages/s'],
          ...['deliveries/s', 'in KB/s', 'out KB/s', 'Redis CPU %', 'node CPU %'],
        ],
        rows: traffic,
        notes: [
          'node CPU: of the process with all simulated nodes, divided by their number',
          'in and out are those of Redis; a message goes to every node',
        ],
      },
      {
        title: 'From a failure to every node',
        columns: [
          ...['who probes', 'members', 'told ms p50', 'told ms max'],
          ...['any s p50', 'any s max', 'quorum s p50', 'quorum s max'],
        ],
        rows: delays,
        notes: [
          'told: from what a prober finds until the last node has heard it',
          `any, quorum: from a failure until the last node answers otherwise under global-any-healthy and global-quorum; probes every ${intervalMs / 1_000} s`,
        ],
      },
    ],
    figures,
  }
}

/** Work of Redis and of this process meanwhile, as cells. */
async function measured(redis: RedisServer, durationMs: number): Promise<readonly string[]> {
  const before = await redisFacts(redis)
  const cpuBefore = process.cpuUsage()
  const beganMs = performance.now()
  await sleep(durationMs)
  const seconds = (performance.now() - beganMs) / 1_000
  const cpu = process.cpuUsage(cpuBefore)
  const after = await redisFacts(redis)
  const rate = (name: keyof typeof after): number => (after[name] - before[name]) / seconds
  const nodes = after.subscribers
  return [
    fixed(rate('messages'), 0),
    fixed(rate('messages') * nodes, 0),
    fixed(rate('in') / 1_000, 0),
    fixed(rate('out') / 1_000, 0),
    fixed(rate('cpuSeconds') * 100, 1),
    fixed(((cpu.user + cpu.system) / 1e6 / seconds / nodes) * 100, 2),
  ]
}

async function redisFacts({ port }: RedisServer) {
  const info = await redisCli(port, 'INFO', 'everything')
  const number = (form: RegExp): number => Number(form.exec(info)?.[1] ?? 0)
  const subscribed = await redisCli(port, 'PUBSUB', 'NUMSUB', 'gslbd:peer-health')
  return {
    // A script publishes one of them.
    messages: number(/cmdstat_publish:calls=(\d+)/),
    in: number(/total_net_input_bytes:(\d+)/),
    out: number(/total_net_output_bytes:(\d+)/),
    cpuSeconds: number(/used_cpu_user:([\d.]+)/) + number(/used_cpu_sys:([\d.]+)/),
    subscribers: Number(/(\d+)\s*$/.exec(subscribed)?.[1] ?? 1),
  }
}

/** Lets members fail at once; each prober finds out within an interval. */
async function fail(
  fleet: SimulatedFleet,
  withinMs: number,
): Promise<{ readonly reachedMs: readonly string[]; readonly changed: readonly number[] }> {
  const keys = [...fleet.probersOf.keys()]
  const failed = Array.from({ length: failures }, (_, i) => keys[(i * 37) % keys.length]!)
  const beganMs = performance.now()
  const found = new Map<string, number>()
  const finding = failed.flatMap((key) =>
    (fleet.probersOf.get(key) ?? []).map(async (node) => {
      await sleep((random.below(1_000) / 1_000) * withinMs)
      found.set(`${key} ${node.name}`, performance.now())
      node.finds(key, { healthy: false })
    }),
  )
  await Promise.all(finding)
  await sleep(2_000)
  return delaysOf(fleet, failed, { beganMs, found })
}

function delaysOf(
  fleet: SimulatedFleet,
  failed: readonly string[],
  { beganMs, found }: { beganMs: number; found: ReadonlyMap<string, number> },
) {
  const reachedMs: number[] = []
  const [any, quorum]: [number[], number[]] = [[], []]
  for (const key of failed) {
    const probers = fleet.probersOf.get(key) ?? []
    let [anyMs, quorumMs] = [0, 0]
    for (const node of fleet.nodes) {
      const own = found.get(`${key} ${node.name}`)
      const heard = node.heardDown.filter((one) => one.key === key)
      const first = new Map(heard.toReversed().map((one) => [one.node, one.atMs]))
      const times = [...first.values(), ...(own === undefined ? [] : [own])].toSorted(
        (a, b) => a - b,
      )
      // A missing verdict must not count as a short delay.
      const at = (count: number): number => times[count - 1] ?? Infinity
      anyMs = Math.max(anyMs, at(probers.length) - beganMs)
      quorumMs = Math.max(quorumMs, at(Math.floor(probers.length * 0.49) + 1) - beganMs)
    }
    any.push(anyMs)
    quorum.push(quorumMs)
    for (const prober of probers) {
      const heardMs = fleet.nodes
        .filter((node) => node !== prober)
        .map((node) => node.heardDown.find((one) => one.key === key && one.node === prober.name))
        .map((one) => one?.atMs ?? Infinity)
      reachedMs.push(Math.max(...heardMs) - found.get(`${key} ${prober.name}`)!)
    }
  }
  const both = (times: readonly number[]): readonly number[] => [
    percentile(times, 50),
    Math.max(...times),
  ]
  return {
    reachedMs: both(reachedMs).map((ms) => fixed(ms, 0)),
    changed: [...both(any), ...both(quorum)],
  }
}
