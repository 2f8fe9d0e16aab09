import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { limitClients, proxyTest } from '#api/server/client-connections.ts'
import { waitUntil } from '#test/support/wait-until.ts'

/** @returns whether the server keeps the connection */
async function isKept(socket: Socket): Promise<boolean> {
  const [said] = await Promise.race([
    once(socket, 'data'),
    once(socket, 'close').then(() => [undefined]),
  ])
  return said !== undefined
}

test('a client at its limit leaves places to others, and a proxy has no limit', async () => {
  const server = createServer()
  limitClients(server, { max: 2, isProxy: (address) => address === '127.0.0.9' })
  server.on('connection', (socket) => socket.on('error', () => undefined).write('!'))
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const open = (localAddress: string): Socket => {
    const socket = connect({ host: '127.0.0.1', port, localAddress }).on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    return socket
  }
  const [first, second] = [open('127.0.0.2'), open('127.0.0.2')]
  expect([await isKept(first), await isKept(second)]).toEqual([true, true])
  expect(await isKept(open('127.0.0.2'))).toBe(false)
  expect(await isKept(open('127.0.0.3'))).toBe(true)
  for (let i = 0; i < 4; i++) expect(await isKept(open('127.0.0.9'))).toBe(true)
  first.end()
  await waitUntil('the place that is free', () => isKept(open('127.0.0.2')))
})

test.each([
  ['203.0.113.7', true],
  ['203.0.113.8', false],
  ['2001:db8:1::9', true],
  ['2001:db8:2::9', false],
  // Behind a proxy of this machine are all clients.
  ['127.0.0.1', true],
  ['::1', true],
  ['', false],
])('at %j a proxy is trusted: %j', (address, isTrusted) => {
  expect(proxyTest(['203.0.113.7', '2001:db8:1::/48'])(address)).toBe(isTrusted)
})
