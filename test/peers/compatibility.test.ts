// Rows of docs/compatibility.md, run again with the programs that are installed.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tsigAlgorithm, tsigAlgorithms } from '#dns/tsig/tsig-algorithms.ts'
import { bareModel, newSigningKey, pool, service, zone } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { startTsigServer } from '#test/support/dns/tsig-server.ts'
import { buildNode, publish } from '#test/support/node-under-test.ts'
import { policyReaders, startReader } from '#test/support/policy-readers.ts'
import { saidBy } from '#test/support/said-by.ts'
import { waitUntil } from '#test/support/wait-until.ts'
import { tableRows } from '../tidy/doc-rules.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const page = readFileSync(new URL('../../docs/compatibility.md', import.meta.url), 'utf8')
const secret = Buffer.alloc(32, 7).toString('base64')
const algorithms = ['hmac-md5.sig-alg.reg.int.', ...tsigAlgorithms.map(({ name }) => name)]

/** Asks, or sends an update, with a key that has no algorithm. */
function send(client: string, port: number): Promise<string> {
  const server = ['@127.0.0.1', '-p', `${port}`, '-y', `key.example:${secret}`]
  const question = [...server, 'example.com', 'SOA']
  const lines = [
    ...[`server 127.0.0.1 ${port}`, 'zone example.com.', `key key.example ${secret}`],
    ...['update add x.example.com. 60 TXT "x"', 'send', ''],
  ]
  const input = { input: lines.join('\n') }
  const said: Record<string, () => ReturnType<typeof saidBy>> = {
    dig: () => saidBy('dig', ['+tries=1', '+time=2', ...question]),
    kdig: () => saidBy('kdig', ['+retry=0', '+time=2', ...question]),
    nsupdate: () => saidBy('nsupdate', ['-t', '2', '-r', '0'], input),
    knsupdate: () => saidBy('knsupdate', ['-t', '2', '-r', '0'], input),
  }
  return said[client]!().then(({ text }) => text)
}

describe('keys without an algorithm', () => {
  const [plain = []] = [tableRows(page, 'client')]
  const rows = plain.filter(([client = '']) => /^k?(?:dig|nsupdate)$/.test(client))

  test('the page has the four clients', () => {
    expect(rows).toHaveLength(4)
  })

  test.each(rows)('%s %s signs with %s', async (client, _version, algorithm) => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const said = send(client, socket.address().port)
    const [datagram] = (await once(socket, 'message')) as [Buffer]
    expect(algorithms.filter((name) => datagram.includes(wireName(name)))).toEqual([algorithm])
    socket.close()
    await said
  })

  test.each(rows)('%s %s is believed with SHA-256 alone', async (client, _version, algorithm) => {
    const key = { name: wireName('key.example.'), algorithm: tsigAlgorithm('hmac-sha256.')! }
    const server = await startTsigServer({
      find: () => ({ ...key, secret: Buffer.from(secret, 'base64') }),
      now: () => Math.floor(Date.now() / 1_000),
      signEvery: 1,
    })
    const said = await send(client, server.port)
    server.close()
    const isBelieved = server.checks.at(-1) === 'signed'
    expect(isBelieved, said).toBe(algorithm === 'hmac-sha256.')
    if (!isBelieved) expect(said).toMatch(/BADKEY|NOTAUTH/)
  })
})

describe('a zone forwarded to a node', () => {
  const key = newSigningKey()
  const { node } = buildNode({ trusted: key })
  let port = 0
  beforeAll(async () => {
    const started = await node.start()
    port = started.ok ? started.value.port : expect.unreachable('no port')
    const model = {
      ...bareModel,
      zones: [zone('example.')],
      pools: [pool(1, ['192.0.2.1'])],
      services: [service(1, 'www.example.')],
    }
    await node.activate(publish(key, model, { seq: 1 }))
  })
  afterAll(() => node.stop())

  // Knot Resolver finds no root here, and its line is on the page as seen by hand.
  test.each(policyReaders.filter(({ takesAliases }) => takesAliases))(
    '$name asks the node',
    async (resolver) => {
      const policy =
        '$TTL 60\n@ SOA localhost. root.localhost. 1 3600 600 86400 60\n@ NS localhost.\n'
      const started = await startReader(resolver, policy, port)
      try {
        await waitUntil('the answer', async () => {
          const from = { host: '127.0.0.1', port: started.port }
          const { answer } = await ask(from, 'www.example. A', { rd: true })
          return answer.map(({ rdataText }) => rdataText).join() === '192.0.2.1'
        })
      } finally {
        await started.end()
      }
    },
    60_000,
  )
})
