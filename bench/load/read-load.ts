// A client of the API that reads one resource repeatedly over kept connections: a separate process,
// so that its work is not the server's.
import { connect } from 'node:net'
import { percentile } from '../support/statistics.ts'

export interface ReadLoad {
  readonly port: number
  /** Includes `/api/v1`. */
  readonly path: string
  readonly bearer: string
  /** Connections with one request each. */
  readonly connections: number
  readonly seconds: number
}

export interface ReadRun {
  readonly reads: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const load = JSON.parse(process.argv[2] ?? '{}') as ReadLoad
const request = Buffer.from(
  `GET ${load.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${load.bearer}\r\n\r\n`,
)
const times: number[] = []
const endMs = performance.now() + load.seconds * 1_000

/** Opens one connection after another: the server ends each after some requests. */
async function lane(): Promise<void> {
  while (performance.now() < endMs) await connection()
}

function connection(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(load.port, '127.0.0.1')
    socket.setNoDelay(true)
    let sentMs = 0
    let isLast = false
    let received: Buffer = Buffer.alloc(0)
    const send = (): void => {
      if (isLast || performance.now() >= endMs) return void socket.end()
      sentMs = performance.now()
      socket.write(request)
    }
    socket.on('connect', send)
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const reply = replyIn(received)
      if (reply === undefined) return
      if (reply.status !== 200) return void socket.destroy(new Error(received.toString()))
      times.push(performance.now() - sentMs)
      isLast = reply.isLast
      received = received.subarray(reply.length)
      send()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve())
  })
}

/** undefined: the reply is incomplete. */
function replyIn(bytes: Buffer): { status: number; length: number; isLast: boolean } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const length = headEnd + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  if (bytes.length < length) return undefined
  const status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
  return { status, length, isLast: /\r\nconnection: close/i.test(head) }
}

const startedMs = performance.now()
await Promise.all(Array.from({ length: load.connections }, lane))
const seconds = (performance.now() - startedMs) / 1_000
const run: ReadRun = {
  reads: times.length,
  seconds,
  p50Ms: percentile(times, 50),
  p99Ms: percentile(times, 99),
}
process.stdout.write(`${JSON.stringify(run)}\n`)
