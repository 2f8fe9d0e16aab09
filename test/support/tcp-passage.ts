// A port that leads to another one, as a proxy does: elsewhere for new connections, while the old
// ones stay.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** `shut`: connections are refused; `mute`: they are taken, and nothing goes through. */
type PassageState = 'open' | 'shut' | 'mute'

export interface TcpPassage {
  readonly port: number
  state: PassageState
  /** Ends all connections. */
  readonly cut: () => void
  readonly stop: () => void
}

/** @param portNow where a new connection leads, on this machine */
export async function startPassage(portNow: () => number): Promise<TcpPassage> {
  const sockets = new Set<Socket>()
  const server = createServer((outside) => {
    if (passage.state === 'shut') return void outside.destroy()
    const inside = connect(portNow(), '127.0.0.1')
    for (const [from, to] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      sockets.add(from)
      from.on('data', (octets) => passage.state === 'open' && to.write(octets))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const stop = (): void => {
    server.close()
    cut()
  }
  const { port } = server.address() as AddressInfo
  const passage: TcpPassage = { port, state: 'open', cut, stop }
  return passage
}
