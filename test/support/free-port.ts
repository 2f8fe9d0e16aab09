// A port that nobody has, over UDP and TCP, and that the system gives nobody by itself.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { randomInt } from 'node:crypto'

/** Below the ports that Linux, BSD and Windows hand out: no other program gets it meanwhile. */
const lowest = 12_000
const highest = 32_000

/** For programs that cannot be given port 0, or that start again on the port that they had. */
export async function freePort(): Promise<number> {
  for (;;) {
    // Tests of other processes look at the same time: not the same seed for all of them.
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
