// The clients: query every node at an even rate, and count wrong and missing answers. Run in their
// namespace: node load.ts OPTIONS. Each line of input is answered by a line of JSON, the counts
// since the previous line.
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '#test/support/dns/message.ts'

export interface LoadOptions {
  readonly nodes: readonly { readonly name: string; readonly address: string }[]
  readonly port: number
  /** Queries per second to each node. */
  readonly rate: number
  readonly names: readonly AskedName[]
  /**
   * A name that answers with the number of a commit: 10.200.HIGH.LOW. One query in ten asks for it.
   */
  readonly beat: string
}

interface AskedName {
  readonly qname: string
  /** First three octets of its answers; the fourth is from 1 to 4. */
  readonly prefix: readonly [number, number, number]
}

export interface NodeLoad {
  readonly name: string
  readonly sent: number
  /** Without an answer for as long as clients wait. */
  readonly lost: number
  /** Lost queries that were answered later. */
  readonly late: number
  /** Answers dropped because the clients' socket was full. */
  readonly overrun: number
  readonly wrong: number
  /** The longest pause of the clients themselves. */
  readonly sleptMs: number
  /** The longest time between two answers. */
  readonly gapMs: number
  /** Number of the commit in the last answer; -1: none yet. */
  readonly beat: number
  /** Some wrong answers in hexadecimal. */
  readonly samples: readonly string[]
}

const patienceMs = 2_000
const tickMs = 10
/** Burst to a node, as a part of a second's queries: the kernel's queues are short. */
const burstOf = 40
/** After a later tick the clients were asleep, which does not count against the nodes. */
const awakeMostMs = 100
const beatOf = 10
const sampleMax = 3
const ids = 0x1_0000
const beatPrefix = [10, 200]

class Asked {
  readonly name: string
  readonly #socket: Socket
  readonly #options: LoadOptions
  readonly #queries: readonly Buffer[]
  /**
   * By query id: time of sending on the clients' clock; 0: nothing is expected; negative: given up.
   */
  readonly #sentMs = new Float64Array(ids)
  #overrun = 0
  /** By id: the index of the name; that of `beat` is the number of names. */
  readonly #asked = new Uint32Array(ids)
  #id = 0
  #oldest = 0
  #turn = 0
  #lastMs = 0
  #counts = { sent: 0, lost: 0, late: 0, wrong: 0, gapMs: 0 }
  #beat = -1
  #samples: string[] = []

  constructor(name: string, address: string, options: LoadOptions) {
    this.name = name
    this.#options = options
    this.#queries = [...options.names.map(({ qname }) => qname), options.beat].map((qname) =>
      query(`${qname} A`),
    )
    this.#socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1_024 * 1_024 })
    this.#socket.on('message', (bytes) => this.#take(bytes))
    // A dead process: the kernel reports a closed port. The query is lost.
    this.#socket.on('error', () => undefined)
    this.#socket.connect(options.port, address)
  }

  send(count: number, awakeMs: number): void {
    const { names } = this.#options
    for (let i = 0; i < count; i++) {
      const id = (this.#id = (this.#id + 1) % ids)
      const turn = this.#turn++
      const index = turn % beatOf === 0 ? names.length : turn % names.length
      const packet = Buffer.from(this.#queries[index]!)
      packet.writeUInt16BE(id, 0)
      this.#sentMs[id] = awakeMs
      this.#asked[id] = index
      this.#counts.sent++
      this.#socket.send(packet, () => undefined)
    }
  }

  expire(awakeMs: number): void {
    while (this.#oldest !== this.#id) {
      const id = (this.#oldest + 1) % ids
      const sentMs = this.#sentMs[id]!
      if (sentMs > 0 && sentMs > awakeMs - patienceMs) return
      if (sentMs > 0) {
        this.#counts.lost++
        this.#sentMs[id] = -1
      }
      this.#oldest = id
    }
  }

  /** @param drops of each client socket, by port */
  report(drops: ReadonlyMap<number, number>, sleptMs: number): NodeLoad {
    this.#gap(performance.now())
    const dropped = drops.get(this.#socket.address().port) ?? 0
    const overrun = dropped - this.#overrun
    this.#overrun = dropped
    const { name } = this
    const report = {
      name,
      ...this.#counts,
      overrun,
      sleptMs,
      beat: this.#beat,
      samples: this.#samples,
    }
    this.#counts = { sent: 0, lost: 0, late: 0, wrong: 0, gapMs: 0 }
    this.#samples = []
    return report
  }

  #gap(nowMs: number): void {
    if (this.#lastMs !== 0) this.#counts.gapMs = Math.max(this.#counts.gapMs, nowMs - this.#lastMs)
  }

  #take(bytes: Buffer): void {
    if (bytes.length < 12) return
    const id = bytes.readUInt16BE(0)
    const sentMs = this.#sentMs[id]!
    if (sentMs === 0) return
    if (sentMs < 0) this.#counts.late++
    this.#sentMs[id] = 0
    const nowMs = performance.now()
    this.#gap(nowMs)
    this.#lastMs = nowMs
    if (this.#isRight(bytes, this.#asked[id]!)) return
    this.#counts.wrong++
    if (this.#samples.length < sampleMax) this.#samples.push(bytes.toString('hex'))
  }

  /** Checks the single answer, whose address ends the message. */
  #isRight(bytes: Buffer, index: number): boolean {
    const isAnswered = (bytes[3]! & 0x0f) === 0 && bytes.readUInt16BE(6) === 1
    if (!isAnswered) return false
    const address = bytes.subarray(-4)
    const name = this.#options.names[index]
    if (name !== undefined) {
      const isOurs = name.prefix.every((octet, i) => address[i] === octet)
      return isOurs && address[3]! >= 1 && address[3]! <= 4
    }
    if (!beatPrefix.every((octet, i) => address[i] === octet)) return false
    this.#beat = address.readUInt16BE(2)
    return true
  }
}

/** Datagrams dropped for want of room: the last column of the kernel's socket table, by port. */
function droppedByPort(): Map<number, number> {
  const lines = readFileSync('/proc/self/net/udp', 'latin1').trimEnd().split('\n').slice(1)
  return new Map(
    lines.map((line) => {
      const columns = line.trim().split(/\s+/)
      return [Number.parseInt(columns[1]!.split(':')[1]!, 16), Number(columns.at(-1))]
    }),
  )
}

// A dead node costs an error for each query; stacks would take the clients' time.
Error.stackTraceLimit = 0
const options = JSON.parse(process.argv[2] ?? '{}') as LoadOptions
const nodes = options.nodes.map(({ name, address }) => new Asked(name, address, options))
let sleptMs = 0
createInterface(process.stdin).on('line', () => {
  const drops = droppedByPort()
  process.stdout.write(`${JSON.stringify(nodes.map((node) => node.report(drops, sleptMs)))}\n`)
  sleptMs = 0
})
// Waits until the sockets are connected.
await sleep(500)
const startMs = performance.now()
let sent = 0
/** A clock that stops while the clients sleep: packets waiting in their sockets are not lost. */
let awakeMs = 0
let tickedMs = startMs
setInterval(() => {
  const nowMs = performance.now()
  awakeMs += Math.min(nowMs - tickedMs, awakeMostMs)
  sleptMs = Math.max(sleptMs, nowMs - tickedMs - tickMs)
  tickedMs = nowMs
  for (const node of nodes) node.expire(awakeMs)
  const due = Math.floor(((nowMs - startMs) / 1_000) * options.rate) - sent
  // Missed queries are not made up for at once.
  const count = Math.min(due, options.rate / burstOf)
  sent += due
  for (const node of nodes) node.send(count, awakeMs)
}, tickMs)
