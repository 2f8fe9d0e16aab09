// Finds a port that is free over UDP and TCP, and outside of the ephemeral range.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { randomInt } from 'node:crypto'

/** Below the ephemeral ports of Linux, BSD and Windows: no other program gets it meanwhile. */
const lowest = 12_000
const highest = 32_000

/** For programs that cannot use port 0, or that restart on the same port. */
export async function freePort(): Promise<number> {
  for (;;) {
    // Random, since other test processes search at the same time.
    const port = randomInt(lowest, highest)
    if ((await isFreeOverTcp(port)) && (await isFreeOverUdp(port))) return port
  }
}

async function isFreeOverTcp(port: number): Promise<boolean> {
  const server = createServer().listen(port, '0.0.0.0')
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (isFree) {
    server.close()
    await once(server, 'close')
  }
  return isFree
}

async function isFreeOverUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind(port, '0.0.0.0')
  const isFree = await once(socket, 'listening').then(
    () => true,
    () => false,
  )
  socket.close()
  return isFree
}
