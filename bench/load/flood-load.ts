// A flood of one question at a steady rate, with the addresses of victims: any of so many networks
// of 127.0.0.0/8. It waits for no answer and counts what comes to the victims.
// Run by `floodLoad`: prints what it has seen as JSON.
import { loadLibc } from '#system/sockets/libc.ts'
import { Random } from '#lib/random.ts'
import { runForJson } from '../servers/program.ts'
import { batchMax, ManyAddresses, slotBytes } from './many-addresses.ts'

interface FloodLoad {
  readonly port: number
  /** The question, in hexadecimal digits. */
  readonly query: string
  readonly perSecond: number
  readonly seconds: number
  /** Networks of 256 addresses that the victims are in. */
  readonly networks: number
}

export interface FloodResult {
  readonly seconds: number
  readonly sent: number
  readonly sentBytes: number
  readonly replies: number
  readonly replyBytes: number
}

/** 127.64.0.0, the first network of victims; the others follow. */
const victims = 0x7f400000
const networksMax = 0x3fff
/** Clients that are no part of the flood may have higher ones. */
export const victimHosts = 200
/** Batches that go out before replies are taken. */
const batchesBetween = 4
const restMs = 0.2

/** @param core the only one that the flood runs on */
export async function floodLoad(flood: FloodLoad, core: number): Promise<FloodResult> {
  return runForJson<FloodResult>([import.meta.filename, JSON.stringify(flood)], { core })
}

/** What came to the victims. */
class Replies {
  count = 0
  bytes = 0
  readonly #socket: ManyAddresses

  constructor(socket: ManyAddresses) {
    this.#socket = socket
  }

  /** Takes all that have come. */
  take(isPatient: boolean): void {
    let got = 0
    do {
      got = this.#socket.receive(isPatient)
      this.count += got
      for (let slot = 0; slot < got; slot++) this.bytes += this.#socket.lengthOf(slot)
    } while (got === batchMax || (isPatient && got > 0))
  }
}

function run({ port, query, perSecond, seconds, networks }: FloodLoad): FloodResult {
  if (networks > networksMax) throw new Error(`at most ${networksMax} networks`)
  const libc = loadLibc()
  if (typeof libc === 'string') throw new Error(libc)
  const question = Buffer.from(query, 'hex')
  const random = new Random(23)
  const socket = new ManyAddresses(libc, port)
  const replies = new Replies(socket)
  const clock = new Int32Array(new SharedArrayBuffer(4))
  let sent = 0
  const startedMs = performance.now()
  const passedMs = (): number => performance.now() - startedMs
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs = passedMs()) {
    const due = Math.floor((nowMs * perSecond) / 1_000) - sent
    // What receiving overwrites is put into the slots again.
    for (let batch = 0; batch < batchesBetween && due - batch * batchMax >= batchMax; batch++) {
      for (let slot = 0; slot < batchMax; slot++) {
        if (batch === 0) socket.set(slot, question)
        const id = random.draw()
        socket.slots[slot * slotBytes] = id
        socket.slots[slot * slotBytes + 1] = id >>> 8
        const network = random.below(networks) << 8
        socket.setSender(slot, victims + network + 1 + random.below(victimHosts - 1))
      }
      sent += socket.send(batchMax)
    }
    replies.take(false)
    if (due < batchMax) Atomics.wait(clock, 0, 0, restMs)
  }
  const tookMs = passedMs()
  replies.take(true)
  const { count, bytes } = replies
  const sentBytes = sent * question.length
  return { seconds: tookMs / 1_000, sent, sentBytes, replies: count, replyBytes: bytes }
}

if (import.meta.main) {
  const flood = JSON.parse(process.argv[2] ?? '') as FloodLoad
  process.stdout.write(`${JSON.stringify(run(flood))}\n`)
}
