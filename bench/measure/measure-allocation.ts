// A process that counts the octets which the answer path and the batch calls allocate. Run by the
// benchmark `allocation`, with a young generation so large that no collection hides allocations.
import { loadLibc } from '#system/sockets/libc.ts'
import type { Libc } from '#system/sockets/libc.ts'
import { UdpBatch } from '#system/sockets/udp-batch.ts'
import { openUdpEndpoint } from '#system/sockets/udp-socket.ts'
import type { UdpEndpoint } from '#system/sockets/udp-socket.ts'
import {
  AnswerLoop,
  benchGeneration,
  queryKinds,
  responseRuleCount,
  ruleQueryKinds,
  staticGeneration,
  staticQueryKinds,
} from '../data/answer-mix.ts'
import { measure } from './count-allocation.ts'
import type { Allocated } from './count-allocation.ts'

export interface AllocationResult {
  /** A control: a loop that allocates one small object each time. */
  readonly control: Allocated
  readonly answers: readonly Allocated[]
  /** Operations are pairs of one receive and one send. */
  readonly batches: readonly (Allocated & { readonly size: number })[]
}

/** Two sockets that exchange the same packets: each received batch is sent back. */
class PingPong {
  readonly #sides: readonly [UdpBatch, UdpBatch]
  #turn = 0

  constructor(libc: Libc, size: number) {
    const endpoints = [open(libc), open(libc)] as const
    this.#sides = [0, 1].map((i) => {
      const endpoint = endpoints[i]!
      return new UdpBatch(libc, { fd: endpoint.fds[0]!, endpoint })
    }) as unknown as [UdpBatch, UdpBatch]
    for (let i = 0; i < size; i++) serve(libc, endpoints[1].fds[0]!, endpoints[0].port)
  }

  run(times: number): void {
    for (let i = 0; i < times; i++) {
      const side = this.#sides[this.#turn]!
      const count = side.receive()
      if (count === 0) throw new Error('a packet was lost')
      for (let slot = 0; slot < count; slot++) side.setReply(slot, side.queryLength(slot))
      side.send(count)
      this.#turn ^= 1
    }
  }
}

function open(libc: Libc): UdpEndpoint {
  const endpoint = openUdpEndpoint(libc, '127.0.0.1', 0, 1, 1232)
  if (!endpoint.ok) throw new Error(endpoint.error)
  return endpoint.value
}

/** Sends the first packet: 40 octets from a socket to a port of 127.0.0.1. */
function serve(libc: Libc, fd: number, port: number): void {
  const name = Buffer.from([2, 0, port >> 8, port & 255, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
  const ball = new Uint8Array(new ArrayBuffer(40))
  const iovec = new BigUint64Array([libc.addressOf(ball), 40n])
  const header = new BigUint64Array(8)
  header.set([libc.addressOf(name), 16n, libc.addressOf(iovec), 1n])
  if (libc.sendmmsg(fd, libc.addressOf(header), 1, 0) !== 1)
    throw new Error('the ball was not sent')
}

async function measureAll(isQuick: boolean): Promise<AllocationResult> {
  const times = isQuick ? 200_000 : 2_000_000
  let kept: object = {}
  // Few enough to fit into the young generation.
  const control = await measure('an object of 40 bytes', 200_000, (n) => {
    for (let i = 0; i < n; i++) kept = { i, kept: i }
  })
  if (Object.keys(kept).length !== 2) throw new Error('the control kept nothing')
  const loop = new AnswerLoop(benchGeneration(), 1)
  const ruleLoop = new AnswerLoop(benchGeneration(responseRuleCount), 1)
  const staticLoop = new AnswerLoop(staticGeneration(), 1)
  const kinds = [
    ...queryKinds.map((kind) => ({ ...kind, loop })),
    ...ruleQueryKinds.map((kind) => ({ ...kind, loop: ruleLoop })),
    ...staticQueryKinds.map((kind) => ({ ...kind, loop: staticLoop })),
  ]
  // All kinds run before the first measurement: a later one would deoptimise the code.
  for (let i = 0; i < 3; i++) for (const kind of kinds) kind.loop.run(kind.query, 20_000)
  const answers: Allocated[] = []
  await measure('measuring', 100_000, (n) => void loop.run(queryKinds[0]!.query, n))
  for (const kind of kinds) {
    answers.push(await measure(kind.name, times, (n) => void kind.loop.run(kind.query, n)))
  }
  const libc = loadLibc()
  if (typeof libc === 'string') throw new Error(libc)
  const batches: (Allocated & { size: number })[] = []
  for (const size of [1, 8, 64]) {
    const game = new PingPong(libc, size)
    const pairs = Math.ceil(times / 20 / size)
    const measured = await measure('receive and send', pairs, (n) => game.run(n))
    batches.push({ ...measured, size })
  }
  return { control, answers, batches }
}

const result = await measureAll(process.argv.includes('--quick'))
process.stdout.write(`${JSON.stringify(result)}\n`)
