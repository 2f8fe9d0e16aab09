// BIND as a secondary server of names with many addresses: where it refuses the zone.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '#test/support/dns/client.ts'
import { servicesConfig } from '#test/support/dns/many-addresses.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { freePort } from '#test/support/free-port.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const config = servicesConfig({
  'hundred.example.': { v4: 100, v6: 100 },
  'more.example.': { v4: 101, v6: 0 },
  'raised.example.': { v4: 101, v6: 0 },
  'large.example.': { v4: 0, v6: 2_400 },
})

const extra: Readonly<Record<string, string>> = {
  'raised.example.': 'max-records-per-type 101;',
  'large.example.': 'max-records-per-type 0;',
}

const directory = makeTempDir('secondary-bind')
let node: RunningNode
let named: ChildProcess | undefined
let output = ''
let port: number
beforeAll(async () => {
  node = await startNode(config, { transfers: { enabled: true, requireTsig: false, allow: [] } })
  port = await freePort()
  const zones = config.zones.map(
    ({ name }) => `zone "${name}" {
  type secondary; file "${name}zone"; ${extra[name] ?? ''}
  primaries port ${node.port} { 127.0.0.1; };
};`,
  )
  const text = `options {
  directory "${directory}"; pid-file none; session-keyfile "${directory}/key";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; notify no;
};
controls { };
${zones.join('\n')}
`
  const file = join(directory, 'named.conf')
  writeFileSync(file, text)
  named = spawn('named', ['-g', '-n', '1', '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  named.stderr!.on('data', (chunk: Buffer) => (output += chunk.toString()))
})
afterAll(async () => {
  if (named !== undefined) {
    const ended = once(named, 'close')
    named.kill('SIGTERM')
    await ended
  }
  await node?.stop()
  removeTempDir(directory)
})

const answers = async (question: string) =>
  ask({ host: '127.0.0.1', port }, question, { tcp: true })

test.each([
  ['hundred.example.', 100],
  ['raised.example.', 101],
])('serves %s, with %i addresses', async (zone, count) => {
  const isServed = async (): Promise<boolean> =>
    (await answers(`www.${zone} A`)).answer.length === count
  await waitUntil(`${zone}: ${output}`, isServed, { timeoutMs: 30_000 })
})

test('refuses a zone in which a name has 101', async () => {
  const isRefused = (): boolean => /'more\.example\/IN' .*too many records/.test(output)
  await waitUntil('the log to tell it', isRefused, { timeoutMs: 30_000 })
  expect((await answers('more.example. SOA')).rcode).toBe(2)
})

test('truncates over TCP, too, what no message holds', async () => {
  const isServed = async (): Promise<boolean> => (await answers('large.example. SOA')).aa
  await waitUntil(`the zone: ${output}`, isServed, { timeoutMs: 30_000 })
  const { tc, answer } = await answers('www.large.example. AAAA')
  expect(tc).toBe(true)
  expect(answer.length).toBeLessThan(2_400)
})
