// A client as a process for a namespace: queries an address for one name repeatedly. Each line of
// input is answered by a line of JSON: `last` by the last address answered, any other line by the
// outcome of the queries since the previous line.
import { createSocket } from 'node:dgram'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { decodeMessage, query } from './dns/message.ts'

export interface StreamReport {
  readonly asked: number
  readonly lost: number
  /** Changes of the answered address, in order of time. */
  readonly answers: readonly { readonly address: string; readonly atMs: number }[]
  /** Answers from another address than the one queried. */
  readonly strangers: number
}

const pauseMs = 10
/** Time after which a query counts as lost. */
const patienceMs = 15_000

const [address = '', question = ''] = process.argv.slice(2)
const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
const waiting = new Map<number, number>()
let [id, asked, strangers] = [0, 0, 0]
let answers: { address: string; atMs: number }[] = []

socket.on('message', (bytes, from) => {
  const message = decodeMessage(bytes)
  if (from.address !== address) strangers++
  if (!waiting.delete(message.id)) return
  const [first] = message.answer
  const answered = first === undefined ? `rcode ${message.rcode}` : first.rdataText
  if (answers.at(-1)?.address !== answered) answers.push({ address: answered, atMs: Date.now() })
})
// Without a route the query is lost.
socket.on('error', () => undefined)

createInterface(process.stdin).on('line', (line) => {
  if (line === 'last') process.stdout.write(`${JSON.stringify(answers.at(-1)?.address ?? '')}\n`)
  else void report()
})
setInterval(() => {
  id = (id + 1) % 0x1_0000
  asked++
  waiting.set(id, performance.now())
  socket.send(query(question, { id }), 53, address, () => undefined)
}, pauseMs)

async function report(): Promise<void> {
  const isAsked = new Set(waiting.keys())
  const count = asked
  const endMs = performance.now() + patienceMs
  const left = (): number[] => [...isAsked].filter((one) => waiting.has(one))
  while (left().length > 0 && performance.now() < endMs) await delay(pauseMs)
  const lost = left()
  for (const one of lost) waiting.delete(one)
  const told: StreamReport = { asked: count, lost: lost.length, answers, strangers }
  process.stdout.write(`${JSON.stringify(told)}\n`)
  asked -= count
  answers = answers.slice(-1)
}
