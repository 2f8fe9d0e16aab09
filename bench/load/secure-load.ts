// A load of DNS over TLS or HTTPS: opens connections, each with one question that is answered,
// keeps them until it is told to end, and asks on all of them when told to.
// Run by `openConnections`; speaks over the channel of its parent.
import { once } from 'node:events'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageReader } from '#server/stream/tcp-framing.ts'
import { ask, nodeFlags, startProgram } from '../servers/program.ts'
import type { Program } from '../servers/program.ts'
import { HttpsReplies, HttpsRequests, opening, settingsAck } from './https-frames.ts'
import type { HttpsMethod } from './https-frames.ts'

interface OpenPlan {
  readonly port: number
  readonly connections: number
  /** In hexadecimal digits. */
  readonly query: string
  /** Path of DNS over HTTPS; null: TLS. */
  readonly path: string | null
  readonly method: HttpsMethod
}

interface Opened {
  readonly open: number
  readonly seconds: number
}

export interface AskPlan {
  readonly seconds: number
  /** Queries in a second over all connections together, whether they are answered or not. */
  readonly perSecond?: number
  /** In its place: queries that each connection has under way. */
  readonly outstanding?: number
}

export interface Asked {
  readonly asked: number
  readonly answered: number
  /** Over HTTPS: those that are 200. */
  readonly good: number
  readonly seconds: number
}

/** Handshakes under way. */
const atOnce = 32
/** At most, for the last answers. */
const answersMs = 20_000
const lookMs = 50

/** @returns what holds the connections until it is stopped */
export async function openConnections(
  plan: OpenPlan,
  core: number,
): Promise<Opened & { readonly program: Program }> {
  const args = [...nodeFlags, import.meta.filename, JSON.stringify(plan)]
  const program = startProgram(process.execPath, args, { core, hasChannel: true })
  return { program, ...(await ask<Opened>(program)) }
}

export const askConnections = (program: Program, plan: AskPlan): Promise<Asked> =>
  ask<Asked>(program, { ...plan })

interface Connection {
  readonly socket: TLSSocket
  readonly ask: (count: number) => void
  /** Answers so far, and those of them that were good. */
  readonly counts: () => { readonly answered: number; readonly good: number }
}

/** Messages behind their lengths. */
function overTls(socket: TLSSocket, message: Buffer): Connection {
  const octets = Buffer.concat([Buffer.of(message.length >> 8, message.length & 255), message])
  const reader = new MessageReader()
  const into = new Uint8Array(65_535)
  let answered = 0
  socket.on('data', (chunk: Buffer) => {
    reader.push(chunk)
    while (reader.next(into) >= 0) answered++
  })
  return {
    socket,
    ask: (count) => socket.write(Buffer.concat(Array.from({ length: count }, () => octets))),
    counts: () => ({ answered, good: answered }),
  }
}

function overHttps(
  socket: TLSSocket,
  path: string,
  method: HttpsMethod,
  message: Buffer,
): Connection {
  const requests = new HttpsRequests(method, path, message)
  const replies = new HttpsReplies(() => socket.write(settingsAck))
  socket.on('data', (chunk: Buffer) => replies.take(chunk))
  socket.write(opening())
  return {
    socket,
    ask: (count) =>
      socket.write(Buffer.concat(Array.from({ length: count }, () => requests.next()))),
    counts: () => ({ answered: replies.ended, good: replies.good }),
  }
}

async function openOne({ port, path, method, query }: OpenPlan): Promise<Connection> {
  const message = Buffer.from(query, 'hex')
  const protocol = path === null ? 'dot' : 'h2'
  const socket = connect({
    ...{ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: [protocol] },
  })
  await once(socket, 'secureConnect')
  const one = path === null ? overTls(socket, message) : overHttps(socket, path, method, message)
  one.ask(1)
  while (one.counts().answered === 0) await once(socket, 'data')
  return one
}

async function askAll(connections: ReadonlySet<Connection>, plan: AskPlan): Promise<Asked> {
  const all = [...connections]
  const sum = (of: 'answered' | 'good'): number =>
    all.reduce((total, one) => total + one.counts()[of], 0)
  const [answeredBefore, goodBefore] = [sum('answered'), sum('good')]
  const startedMs = performance.now()
  const { outstanding, perSecond = 0 } = plan
  const asked =
    outstanding === undefined
      ? await askAtRate(all, perSecond, plan.seconds)
      : await askAgain(all, outstanding, plan.seconds)
  const seconds = (performance.now() - startedMs) / 1_000
  // A load that is late with its own work reads answers later.
  for (let waitedMs = 0; waitedMs < answersMs; waitedMs += lookMs) {
    if (sum('answered') - answeredBefore >= asked) break
    await sleep(lookMs)
  }
  const answered = sum('answered') - answeredBefore
  return { asked, answered, good: sum('good') - goodBefore, seconds }
}

/** One connection after the other. */
async function askAtRate(
  all: readonly Connection[],
  perSecond: number,
  seconds: number,
): Promise<number> {
  const startedMs = performance.now()
  let asked = 0
  for (let elapsedMs = 0; elapsedMs < seconds * 1_000;) {
    await sleep(1)
    elapsedMs = performance.now() - startedMs
    const due = Math.floor((Math.min(elapsedMs, seconds * 1_000) * perSecond) / 1_000)
    while (asked < due) all[asked++ % all.length]!.ask(1)
  }
  return asked
}

/** Each connection asks again as soon as it is answered. */
async function askAgain(
  all: readonly Connection[],
  outstanding: number,
  seconds: number,
): Promise<number> {
  let asked = 0
  const ask = (one: Connection, count: number): void => {
    if (count > 0) one.ask(count)
    asked += count
  }
  const ends = all.map((one) => {
    let known = one.counts().answered
    const again = (): void => {
      const { answered } = one.counts()
      ask(one, answered - known)
      known = answered
    }
    one.socket.on('data', again)
    ask(one, outstanding)
    return () => one.socket.off('data', again)
  })
  await sleep(seconds * 1_000)
  for (const end of ends) end()
  return asked
}

async function run(plan: OpenPlan): Promise<void> {
  const startedMs = performance.now()
  let begun = 0
  const open = new Set<Connection>()
  const lane = async (): Promise<void> => {
    while (begun++ < plan.connections) {
      const one = await openOne(plan)
      open.add(one)
      one.socket.on('error', () => undefined)
      one.socket.once('close', () => open.delete(one))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  process.once('disconnect', () => process.exit())
  process.on('message', (wanted: AskPlan) => {
    void askAll(open, wanted).then((asked) => process.send?.(asked))
  })
  const seconds = (performance.now() - startedMs) / 1_000
  process.send?.({ open: open.size, seconds } satisfies Opened)
}

if (import.meta.main) await run(JSON.parse(process.argv[2] ?? '') as OpenPlan)
