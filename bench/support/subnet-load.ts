// A load of queries whose client subnets are spread over the address space, which dnsperf cannot
// send: one socket or many, many packets a call, a window of outstanding queries.
// Run by `subnetLoad`: prints what came back as JSON.
import { loadLibc, Sys } from '#runtime/sockets/libc.ts'
import type { Libc } from '#runtime/sockets/libc.ts'
import { ecsBytes, subnetQuery } from './client-loop.ts'
import { clients4 } from './clients.ts'
import { runForJson } from './program.ts'

export interface SubnetLoad {
  readonly port: number
  readonly qname: string
  readonly seconds: number
  /** They share the window, and take turns. Default 1. */
  readonly sockets?: number
}

export interface SubnetLoadResult {
  readonly sent: number
  /** Replies with one address and a client subnet. */
  readonly answered: number
  readonly seconds: number
  /** By the last octet of the address. */
  readonly byMember: Readonly<Record<string, number>>
  /** Sum of the scopes of all replies. */
  readonly scopes: number
}

/** Queries without a reply: as dnsperf is told to have. */
const window = 100
const batchMax = 32
const slotBytes = 512
/** MSG_DONTWAIT of Linux. */
const dontWait = 0x40

/** @param core the only one that the load runs on */
export async function subnetLoad(run: SubnetLoad, core: number): Promise<SubnetLoadResult> {
  return runForJson<SubnetLoadResult>([import.meta.filename, JSON.stringify(run)], { core })
}

class Socket {
  /** Queries without a reply. */
  outstanding = 0
  readonly slots = new Uint8Array(new ArrayBuffer(batchMax * slotBytes))
  readonly lengths: Uint32Array
  readonly #libc: Libc
  readonly #fd: number
  readonly #iovecs = new BigUint64Array(new ArrayBuffer(batchMax * 16))
  readonly #headers = new BigUint64Array(new ArrayBuffer(batchMax * 64))
  readonly #name: Uint8Array
  readonly #address: bigint

  constructor(libc: Libc, port: number) {
    this.#libc = libc
    this.#fd = libc.socket(Sys.AF_INET, Sys.SOCK_DGRAM | Sys.SOCK_CLOEXEC, 0)
    const timeout = new Uint8Array(new BigInt64Array([0n, 100_000n]).buffer)
    libc.setsockopt(this.#fd, Sys.SOL_SOCKET, Sys.SO_RCVTIMEO, timeout, timeout.length)
    const target = [2, 0, port >> 8, port & 255, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    this.#name = Uint8Array.from(target)
    this.lengths = new Uint32Array(this.#headers.buffer)
    for (let slot = 0; slot < batchMax; slot++) {
      this.#iovecs[slot * 2] = libc.addressOf(this.slots) + BigInt(slot * slotBytes)
      const iovec = libc.addressOf(this.#iovecs) + BigInt(slot * 16)
      this.#headers.set([libc.addressOf(this.#name), 16n, iovec, 1n], slot * 8)
    }
    this.#address = libc.addressOf(this.#headers)
  }

  send(count: number, bytes: number): number {
    for (let slot = 0; slot < count; slot++) this.#iovecs[slot * 2 + 1] = BigInt(bytes)
    this.#setNames(16n)
    return Math.max(0, this.#libc.sendmmsg(this.#fd, this.#address, count, 0))
  }

  /** @param isPatient waits a tenth of a second for the first one */
  receive(isPatient: boolean): number {
    for (let slot = 0; slot < batchMax; slot++) this.#iovecs[slot * 2 + 1] = BigInt(slotBytes)
    this.#setNames(0n)
    const flags = isPatient ? Sys.MSG_WAITFORONE : dontWait
    return Math.max(0, this.#libc.recvmmsg(this.#fd, this.#address, batchMax, flags, 0))
  }

  /** A receive would put the sender's address where the target's stands. */
  #setNames(bytes: bigint): void {
    const address = bytes === 0n ? 0n : this.#libc.addressOf(this.#name)
    for (let slot = 0; slot < batchMax; slot++) this.#headers.set([address, bytes], slot * 8)
  }
}

function run({ port, qname, seconds, sockets = 1 }: SubnetLoad): SubnetLoadResult {
  const libc = loadLibc()
  if (typeof libc === 'string') throw new Error(libc)
  const all = Array.from({ length: sockets }, () => new Socket(libc, port))
  const share = Math.max(1, Math.floor(window / sockets))
  const query = subnetQuery(qname, 'ecs4')
  const subnetAt = query.length - ecsBytes.ecs4
  const { octets, count: clients } = clients4()
  // A reply is the query with one record of 16 octets in its middle; its last four have the scope.
  const replyBytes = query.length + recordBytes
  const byMember: Record<string, number> = {}
  let [sent, answered, scopes, client] = [0, 0, 0, 0]
  const send = (socket: Socket): void => {
    const { slots } = socket
    const room = Math.min(batchMax, share - socket.outstanding)
    for (let slot = 0; slot < room; slot++) {
      const at = slot * slotBytes
      slots.set(query, at)
      slots[at] = sent >> 8
      slots[at + 1] = sent + slot
      client = (client + 1) % clients
      for (let i = 0; i < 3; i++) slots[at + subnetAt + i] = octets[client * 4 + i]!
    }
    const went = room <= 0 ? 0 : socket.send(room, query.length)
    sent += went
    socket.outstanding += went
  }
  const receive = (socket: Socket, isPatient: boolean): number => {
    const { slots } = socket
    const got = socket.receive(isPatient)
    socket.outstanding = Math.max(0, socket.outstanding - got)
    for (let slot = 0; slot < got; slot++) {
      const at = slot * slotBytes
      const length = socket.lengths[slot * 16 + 14]!
      const isAnswer = (slots[at + 3]! & 15) === 0 && slots[at + 7] === 1 && length >= replyBytes
      if (!isAnswer) continue
      answered++
      scopes += slots[at + length - 4]!
      const member = slots[at + addressOf(query.length)]!
      byMember[member] = (byMember[member] ?? 0) + 1
    }
    return got
  }
  const startedMs = performance.now()
  const endMs = startedMs + seconds * 1_000
  let nowMs = startedMs
  for (let turn = 0; nowMs < endMs; turn++) {
    for (const socket of all) send(socket)
    let got = 0
    for (const socket of all) if (sockets > 1) got += receive(socket, false)
    const one = all[turn % sockets]!
    // Nothing for a tenth of a second: what is missing is lost.
    if (got === 0 && receive(one, true) === 0) one.outstanding = 0
    nowMs = performance.now()
  }
  return { sent, answered, seconds: (nowMs - startedMs) / 1_000, byMember, scopes }
}

/** Where the last octet of the address stands, behind header and question. */
const addressOf = (queryBytes: number): number => queryBytes - optBytes + recordBytes - 1
/** OPT record with a subnet of 3 octets. */
const optBytes = 11 + 8 + 3
/** A record with a pointer for its owner. */
const recordBytes = 16

if (import.meta.main) {
  process.stdout.write(`${JSON.stringify(run(JSON.parse(process.argv[2] ?? '') as SubnetLoad))}\n`)
}
