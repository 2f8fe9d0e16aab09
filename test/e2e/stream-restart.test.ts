// A stream thread that dies while another program takes the port of DNS over TLS: TCP is answered
// again at once, and TLS when the port is free.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Worker } from 'node:worker_threads'
import { connect } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { ask } from '#test/support/dns/client.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { startNode } from '#test/support/dns/node.ts'
import { freePort } from '#test/support/free-port.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { pairsIn } from '#server/tls/sources.ts'
import { makeTlsFiles } from '#test/support/tls-files.ts'
import { waitUntil } from '#test/support/wait-until.ts'

test('TCP goes on without the port of TLS, which is taken when it is free', async () => {
  const workers: Worker[] = []
  const note = (worker: Worker): number => workers.push(worker)
  process.on('worker', note)
  onTestFinished(() => void process.off('worker', note))
  const port = await freePort()
  const pairs = pairsIn('dns.tls', makeTlsFiles(tempDir('restart'), 'ns.example.org'))
  const tls = { port, given: null, pairs }
  const server = await startNode(conformanceConfig, { tls })
  onTestFinished(() => server.node.stop())
  const sockets = (): readonly string[] =>
    server.node
      .sockets()
      .filter(({ descriptors }) => descriptors.length > 0)
      .map(({ name }) => name.split(' ')[0]!)
  expect(sockets()).toEqual(['dns-udp', 'dns-tcp', 'dns-tls'])

  const stream = workers.find(({ threadName }) => threadName === 'dns-stream')!
  const other = createServer()
  const gone = once(stream, 'exit')
  void stream.terminate()
  await gone
  // Nothing that is offered to another process is closed, or something else by now.
  expect(sockets()).toEqual(['dns-udp'])
  other.listen(port, '127.0.0.1')
  await once(other, 'listening')
  await waitUntil('TCP', async () => (await ask(server, 'example.org. SOA', { tcp: true })).id >= 0)
  expect(sockets()).toEqual(['dns-udp', 'dns-tcp'])

  other.close()
  await waitUntil('TLS', async () => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
    await once(socket, 'secureConnect').finally(() => socket.destroy())
    return true
  })
  await waitUntil('its socket', () => sockets().includes('dns-tls'))
  const said = server.stop().then(() => '', String)
  expect(await said).toMatch(/cannot listen on TCP 127.0.0.1 port \d+ .*dns.tls.port.*tried again/)
})
