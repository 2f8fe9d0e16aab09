import { once } from 'node:events'
import { Agent, get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { createApp } from '#api/server/app.ts'
import { apiLimits } from '#http/limits.ts'
import { portsOf } from '../../../support/api-ports.ts'

const limitMs = 100
/** Longer than every limit below, and than the time between two looks for slow clients. */
const delayMs = apiLimits.checkIntervalMs + 500
const request = 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n'

async function start(): Promise<[app: FastifyInstance, port: number]> {
  const app = createApp(portsOf({}), [])
  onTestFinished(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return [app, (app.server.address() as AddressInfo).port]
}

/** A connection that the server has taken, and what comes on it. */
async function connected(app: FastifyInstance, port: number): Promise<[Socket, () => string]> {
  const taken = once(app.server, 'connection')
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  let heard = ''
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString('latin1')))
  await Promise.all([taken, once(socket, 'connect')])
  return [socket, () => heard]
}

/** The bytes are with the system, and then nothing happens in this process for a while. */
function writeAndBlock(socket: Socket, bytes: string): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  // The next thing that the event loop does is to look at its timers.
  setImmediate(() => {
    socket.write(bytes)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayMs)
    resolve(undefined)
  })
  return promise
}

test('a request that came while the node was busy is answered, however late', async () => {
  const [app, port] = await start()
  app.server.headersTimeout = limitMs
  app.server.requestTimeout = limitMs
  const [socket, heard] = await connected(app, port)
  await writeAndBlock(socket, request)
  await expect.poll(heard).toMatch(/^HTTP\/1\.1 /)
  expect(heard()).toMatch(/^HTTP\/1\.1 200 /)
})

test('so is one on a connection that was kept', async () => {
  const [app, port] = await start()
  app.server.keepAliveTimeout = limitMs
  app.server.keepAliveTimeoutBuffer = 0
  const [socket, heard] = await connected(app, port)
  socket.write(request)
  await expect.poll(heard).toMatch(/\r\n\r\n\{/)
  const first = heard().length
  await writeAndBlock(socket, request)
  await Promise.race([once(socket, 'close'), expect.poll(heard).toMatch(/\}HTTP/)])
  expect(heard().slice(first)).toMatch(/^HTTP\/1\.1 200 /)
})

test('a client that sends half a request is refused all the same', async () => {
  const [app, port] = await start()
  app.server.headersTimeout = limitMs
  const [socket, heard] = await connected(app, port)
  await writeAndBlock(socket, request.slice(0, -2))
  await once(socket, 'close')
  expect(heard()).toMatch(/^HTTP\/1\.1 408 /)
})

test('a connection that stays idle is closed', async () => {
  const [app, port] = await start()
  app.server.keepAliveTimeout = limitMs
  app.server.keepAliveTimeoutBuffer = 0
  const [socket, heard] = await connected(app, port)
  socket.write(request)
  await once(socket, 'close')
  expect(heard()).toMatch(/^HTTP\/1\.1 200 /)
})

test('a connection is kept for longer than clients are told', async () => {
  const [app, port] = await start()
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const asked = get({ host: '127.0.0.1', port, path: '/api/v1/health', agent })
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  await text(response)
  expect(response.headers['keep-alive']).toMatch(/^timeout=5(,|$)/)
  const { keepAliveTimeout, keepAliveTimeoutBuffer } = app.server
  expect([keepAliveTimeout, keepAliveTimeoutBuffer]).toEqual([5_000, 15_000])
})
