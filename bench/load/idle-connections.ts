// Opens many connections of DNS over TLS or HTTPS, each with one question that is answered, and
// keeps them until it is told to end.
// Run by `idleConnections`; speaks over the channel of its parent.
import { once } from 'node:events'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { ask, nodeFlags, startProgram } from '../servers/program.ts'
import type { Program } from '../servers/program.ts'
import { HttpsReplies, HttpsRequests, opening, settingsAck } from './https-frames.ts'

export interface IdlePlan {
  readonly port: number
  readonly connections: number
  /** In hexadecimal digits. */
  readonly query: string
  /** Path of DNS over HTTPS; null: TLS. */
  readonly path: string | null
}

export interface IdleOpened {
  readonly open: number
  readonly seconds: number
}

/** Handshakes under way. */
const atOnce = 32

/** @returns what holds the connections until it is stopped */
export async function idleConnections(
  plan: IdlePlan,
  core: number,
): Promise<IdleOpened & { readonly program: Program }> {
  const args = [...nodeFlags, import.meta.filename, JSON.stringify(plan)]
  const program = startProgram(process.execPath, args, { core, hasChannel: true })
  return { program, ...(await ask<IdleOpened>(program)) }
}

async function openOne({ port, path, query }: IdlePlan): Promise<TLSSocket> {
  const message = Buffer.from(query, 'hex')
  const protocol = path === null ? 'dot' : 'h2'
  const socket = connect({
    ...{ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: [protocol] },
  })
  await once(socket, 'secureConnect')
  if (path === null) {
    const length = Buffer.of(message.length >> 8, message.length & 255)
    socket.write(Buffer.concat([length, message]))
    await once(socket, 'data')
    return socket.resume()
  }
  socket.write(Buffer.concat([opening(), new HttpsRequests('POST', path, message).next()]))
  const replies = new HttpsReplies(() => socket.write(settingsAck))
  socket.on('data', (chunk: Buffer) => replies.take(chunk))
  while (replies.ended === 0) await once(socket, 'data')
  return socket
}

async function run(plan: IdlePlan): Promise<void> {
  const startedMs = performance.now()
  let [begun, open] = [0, 0]
  const lane = async (): Promise<void> => {
    while (begun++ < plan.connections) {
      const socket = await openOne(plan)
      open++
      socket.on('error', () => undefined)
      socket.once('close', () => open--)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  process.once('disconnect', () => process.exit())
  process.send?.({ open, seconds: (performance.now() - startedMs) / 1_000 } satisfies IdleOpened)
}

if (import.meta.main) await run(JSON.parse(process.argv[2] ?? '') as IdlePlan)
