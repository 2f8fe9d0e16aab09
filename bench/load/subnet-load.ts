// A load of queries with client subnets spread over the address space, which dnsperf cannot send:
// from one address or many, many packets a call, a window of outstanding queries. Run by
// `subnetLoad`: prints the results as JSON.
import { loadLibc } from '#system/sockets/libc.ts'
import { ecsBytes, subnetQuery } from '../measure/client-loop.ts'
import { clients4 } from '../data/clients.ts'
import { Random } from '#lib/random.ts'
import { runForJson } from '../servers/program.ts'
import { batchMax, ManyAddresses, slotBytes } from './many-addresses.ts'

interface SubnetLoad {
  readonly port: number
  /** Names to query, in a seemingly random order. */
  readonly qnames: readonly string[]
  readonly seconds: number
  /**
   * Number of source addresses, as of resolvers; they share the window. With a socket for each,
   * calls per query would make the load the bottleneck. Default 1.
   */
  readonly senders?: number
}

interface SubnetLoadResult {
  readonly sent: number
  /** Replies with one address and a client subnet. */
  readonly answered: number
  readonly seconds: number
  /** By the last octet of the address. */
  readonly byMember: Readonly<Record<string, number>>
  /** Sum of the scopes of all replies. */
  readonly scopes: number
}

/** Outstanding queries, as with dnsperf. */
const window = 100
const sendersMax = 128
/** 127.0.1.1; the others follow. */
const firstSender = 0x7f000101

/** @param core the only core of the load */
export async function subnetLoad(run: SubnetLoad, core: number): Promise<SubnetLoadResult> {
  // Linux allows 128 KiB in one argument; ten thousand names are more.
  const parts = JSON.stringify(run).match(/.{1,100000}/gs) ?? []
  return runForJson<SubnetLoadResult>([import.meta.filename, ...parts], { core })
}

/** Outstanding queries by sender, whose number is in the low seven bits of a query's ID. */
class Window {
  readonly #share: number
  readonly #outstanding: Uint16Array

  constructor(senders: number) {
    if (senders > sendersMax) throw new Error(`at most ${sendersMax} senders`)
    this.#share = Math.max(1, Math.floor(window / senders))
    this.#outstanding = new Uint16Array(senders)
  }

  room(sender: number): number {
    return this.#share - this.#outstanding[sender]!
  }

  sent(sender: number): void {
    this.#outstanding[sender]!++
  }

  answered(sender: number): void {
    if ((this.#outstanding[sender] ?? 0) > 0) this.#outstanding[sender]!--
  }

  forget(): void {
    this.#outstanding.fill(0)
  }
}

function run({ port, qnames, seconds, senders = 1 }: SubnetLoad): SubnetLoadResult {
  const libc = loadLibc()
  if (typeof libc === 'string') throw new Error(libc)
  const queries = qnames.map((qname) => subnetQuery(qname, 'ecs4'))
  const random = new Random(17)
  const socket = new ManyAddresses(libc, port)
  const { slots, lengthOf } = socket
  const waiting = new Window(senders)
  const { octets, count: clients } = clients4()
  const byMember: Record<string, number> = {}
  let [sent, answered, scopes, client, filled] = [0, 0, 0, 0, 0]
  const flush = (): void => {
    const went = filled === 0 ? 0 : socket.send(filled)
    for (let slot = 0; slot < went; slot++) waiting.sent(slots[slot * slotBytes + 1]! & 127)
    sent += went
    filled = 0
  }
  const put = (sender: number): void => {
    const at = filled * slotBytes
    const query = queries[queries.length === 1 ? 0 : random.below(queries.length)]!
    socket.set(filled, query)
    const subnetAt = query.length - ecsBytes.ecs4
    slots[at] = sent >> 1
    slots[at + 1] = ((sent & 1) << 7) | sender
    client = (client + 1) % clients
    for (let i = 0; i < 3; i++) slots[at + subnetAt + i] = octets[client * 4 + i]!
    socket.setSender(filled++, firstSender + sender)
    if (filled === batchMax) flush()
  }
  const receive = (isPatient: boolean): number => {
    const got = socket.receive(isPatient)
    for (let slot = 0; slot < got; slot++) {
      const at = slot * slotBytes
      waiting.answered(slots[at + 1]! & 127)
      const length = lengthOf(slot)
      const isAnswer = (slots[at + 3]! & 15) === 0 && slots[at + 7] === 1 && length >= replyMin
      if (!isAnswer) continue
      answered++
      scopes += slots[at + length - 4]!
      const member = slots[at + length - optBytes - 1]!
      byMember[member] = (byMember[member] ?? 0) + 1
    }
    return got
  }
  const startedMs = performance.now()
  const endMs = startedMs + seconds * 1_000
  let nowMs = startedMs
  while (nowMs < endMs) {
    for (let sender = 0; sender < senders; sender++) {
      for (let room = waiting.room(sender); room > 0; room--) put(sender)
    }
    flush()
    let got = 0
    // With many senders all answers are taken at once, so that no sender waits.
    if (senders > 1) for (let more = batchMax; more === batchMax; got += more) more = receive(false)
    // A tenth of a second without packets: missing ones are lost.
    if (got === 0 && receive(true) === 0) waiting.forget()
    nowMs = performance.now()
  }
  return { sent, answered, seconds: (nowMs - startedMs) / 1_000, byMember, scopes }
}

/** OPT record with a subnet of 3 octets: the end of a reply, after the address. */
const optBytes = 11 + 8 + 3
/** Header, question, a record with a pointer for its owner, OPT. */
const replyMin = 12 + 6 + 16 + optBytes

if (import.meta.main) {
  process.stdout.write(
    `${JSON.stringify(run(JSON.parse(process.argv.slice(2).join('')) as SubnetLoad))}\n`,
  )
}
