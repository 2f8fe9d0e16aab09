// Where a node listens: addresses of both families, all of them, and ports that others have.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Publication } from '#bundle/signature/publication.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import {
  answerOf,
  askGeneration,
  buildNode,
  generation,
  publish,
} from '#test/support/node-under-test.ts'
import type { NodeOptions } from '#test/support/node-under-test.ts'
import { errorsOf, startedNode } from '#test/support/started-node.ts'

const key = newSigningKey()
const at = (seq: number): Publication => publish(key, generation(seq), { seq })
const start = (options: Partial<NodeOptions> = {}) => startedNode({ trusted: key, ...options })

describe('addresses', () => {
  test.each([0, 1])('with %i threads, ::1 is served', async (threads) => {
    const { node, port } = await start({ listenAddr: '::1', threads })
    await node.activate(at(1))
    expect(await askGeneration(port, '::1')).toBe(answerOf(1))
    expect(await askGeneration(port, '::1', true)).toBe(answerOf(1))
  })

  const asked = ['127.0.0.1', '127.0.0.2', '127.1.2.3']
  test.each(asked)(
    'a node on all addresses replies from the one that was asked: %s',
    async (host) => {
      const { node, port } = await start({ listenAddr: '0.0.0.0' })
      await node.activate(at(1))
      // The client's socket is connected: it hears nothing from another address.
      expect(await askGeneration(port, host)).toBe(answerOf(1))
    },
  )

  test.each(['::1', '127.0.0.1', '127.0.0.2'])(
    'also on all addresses of both families: %s',
    async (host) => {
      const { node, port } = await start({ listenAddr: '::' })
      await node.activate(at(1))
      expect(await askGeneration(port, host)).toBe(answerOf(1))
      expect(await askGeneration(port, host, true)).toBe(answerOf(1))
    },
  )

  const badPlaces: readonly [title: string, options: Partial<NodeOptions>, sentence: string][] = [
    [
      'that is no address',
      { listenAddr: 'localhost' },
      'dns.listenAddr: "localhost" is not an IP address',
    ],
    [
      'that the machine does not have',
      { listenAddr: '192.0.2.1' },
      'this machine does not have that address',
    ],
  ]
  test.each(badPlaces)('an address %s is one sentence', async (_title, options, sentence) => {
    const { node } = buildNode({ trusted: key, ...options })
    const started = await node.start()
    expect(started.ok ? '' : started.error).toContain(sentence)
    await node.stop()
  })
})

describe('a port that is taken', () => {
  test.each([0, 1])(
    'by another node is one sentence, and the first answers all (%i threads)',
    async (threads) => {
      const first = await start()
      await first.node.activate(at(1))
      const { node, log } = buildNode({ trusted: key, port: first.port, threads })
      const started = await node.start()
      expect(started.ok ? '' : started.error).toMatch(
        new RegExp(
          `^cannot listen on UDP 127\\.0\\.0\\.1 port ${first.port} \\(dns\\.listenAddr, dns\\.port\\): another program has it`,
        ),
      )
      await node.stop()
      expect(errorsOf(log)).toEqual([])
      for (let i = 0; i < 20; i++) expect(await askGeneration(first.port)).toBe(answerOf(1))
    },
  )

  test('by another program on TCP is one sentence, and UDP is closed again', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const { node } = buildNode({ trusted: key, port })
    const started = await node.start()
    expect(started.ok ? '' : started.error).toMatch(/TCP.*(in use|another program)/)
    const socket = createSocket('udp4').bind(port, '127.0.0.1')
    await once(socket, 'listening')
    socket.close()
    await node.stop()
  })
})
