// A thread that queries without a pause: each answer must be of one generation, never older than
// the last.
import { createSocket } from 'node:dgram'
import { parentPort, workerData } from 'node:worker_threads'
import { decodeMessage, query } from './dns/message.ts'
import type { Message } from './dns/message.ts'
import { addressOf } from './node-under-test.ts'

export interface SwapLoad {
  readonly port: number
  readonly sockets: number
  /** Outstanding queries per socket. */
  readonly window: number
  /** One cell: 1 ends the load. */
  readonly stop: SharedArrayBuffer
}

export interface SwapLoadResult {
  readonly asked: number
  readonly answered: number
  readonly generations: number
  /** Faults of answers, at most ten. */
  readonly faults: readonly string[]
}

const load = workerData as SwapLoad
const stop = new Int32Array(load.stop)
const faults: string[] = []
const seen = new Set<number>()
const questions = [
  's0.test. A',
  's1.test. A',
  'test. SOA',
  'nope.test. A',
  'test. NS',
  'ns.test. A',
]
/** Time after the end of the load at which an unanswered query counts as lost. */
const patienceMs = 15_000
let asked = 0
let answered = 0

await Promise.all(Array.from({ length: load.sockets }, oneSocket))
const result: SwapLoadResult = { asked, answered, generations: seen.size, faults }
parentPort?.postMessage(result)

/** One responder serves a socket's queries, so its answers may never go back. */
async function oneSocket(): Promise<void> {
  const socket = createSocket('udp4')
  let newest = 0
  let open = 0
  let next = 0
  await new Promise<void>((resolve) => socket.connect(load.port, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => {
    let deadline: NodeJS.Timeout | undefined
    const send = (): void => {
      if (Atomics.load(stop, 0) === 1) {
        deadline ??= setTimeout(resolve, patienceMs)
        if (open === 0) resolve()
        return
      }
      open++
      asked++
      socket.send(query(questions[next++ % questions.length]!))
    }
    socket.on('message', (bytes) => {
      open--
      answered++
      newest = check(decodeMessage(bytes), newest)
      send()
    })
    for (let i = 0; i < load.window; i++) send()
  })
  socket.close()
}

/** @returns the generation of the answer */
function check(reply: Message, newest: number): number {
  const generations = generationsOf(reply)
  const [generation] = generations
  const complain = (text: string): void => {
    if (faults.length < 10) faults.push(`${reply.questions[0]?.name}: ${text}`)
  }
  if (generation === undefined) complain(`rcode ${reply.rcode}`)
  else if (new Set(generations).size > 1) complain(`mixes ${generations.join(', ')}`)
  else if (generation < newest) complain(`${generation} after ${newest}`)
  else {
    seen.add(generation)
    return generation
  }
  return newest
}

/**
 * Every number in the reply that encodes its generation. See `generation` in node-under-test.ts.
 */
function generationsOf(reply: Message): number[] {
  if (reply.rcode !== 0 && reply.rcode !== 3) return []
  const numbers: number[] = []
  for (const { type, ttl, rdata, rdataText } of [
    ...reply.answer,
    ...reply.authority,
    ...reply.additional,
  ]) {
    if (type === 1) {
      const number = (rdata[2]! << 8) | rdata[3]!
      numbers.push(number)
      // Services also have it in the TTL; the name server's address has the zone's TTL.
      if (ttl !== 1_000_000) numbers.push(ttl)
      if (!rdataText.startsWith('10.') || addressOf(number, rdata[1]) !== rdataText)
        numbers.push(-1)
    }
    // The serial is the node's, MINIMUM the bundle's.
    if (type === 6) numbers.push(Number(rdataText.split(' ')[2]), Number(rdataText.split(' ')[6]))
  }
  return numbers
}
