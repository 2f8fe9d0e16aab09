// Finds a port that is free for UDP and TCP, for programs that cannot choose one themselves.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = createSocket('udp4')
    const isFree = await new Promise<boolean>((resolve) => {
      socket.once('error', () => resolve(false))
      socket.bind(port, '127.0.0.1', () => resolve(true))
    })
    if (isFree) socket.close()
    server.close()
    await once(server, 'close')
    if (isFree) return port
  }
}
