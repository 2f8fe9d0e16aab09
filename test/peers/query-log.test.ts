// The query log as the programs of others read it: fstrm_capture receives it, fstrm_dump cuts it,
// protoc decodes it.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FrameReader } from '#answer/query-log/frame-stream.ts'
import { useDaemons } from '#test/support/daemon.ts'
import { ask } from '#test/support/dns/client.ts'
import { loggingNode } from '#test/support/query-log-scene.ts'
import { runCli } from '#test/support/run-cli.ts'
import { Site } from '#test/support/site.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const protoDirectory = join(import.meta.dirname, '../fixtures/dnstap')
const { start } = useDaemons()

/** A receiver at `socket`; SIGTERM has it finish its file. */
function startCapture(socket: string, file: string) {
  const args = ['-t', 'protobuf:dnstap.Dnstap', '-u', socket, '-w', file]
  const child = spawn('fstrm_capture', args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const stop = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    child.kill(signal)
    await ended
  }
  return { stop }
}

/** What protoc says of each record of a file. */
function decoded(file: string): readonly string[] {
  const { status, stderr } = spawnSync('fstrm_dump', [file], { encoding: 'latin1' })
  const frames = new FrameReader().push(readFileSync(file))
  if (!frames.ok) throw new Error(frames.error)
  const records = frames.value.filter((frame) => frame.kind === 'data')
  const lengths = [...stderr.matchAll(/^Data frame \((\d+)\) bytes/gm)]
  expect([status, ...lengths.map(([, length]) => Number(length))]).toEqual([
    0,
    ...records.map(({ octets }) => octets.length),
  ])
  return records.map(({ octets }) =>
    execFileSync('protoc', ['--decode=dnstap.Dnstap', `-I${protoDirectory}`, 'dnstap.proto'], {
      input: octets,
      encoding: 'latin1',
    }),
  )
}

/** The value of a field in what protoc prints: a word, or a text with escapes. */
const fieldOf = (text: string, name: string): string | undefined =>
  new RegExp(`^\\s*${name}: (.*)$`, 'm').exec(text)?.[1]
const extraOf = (text: string): Record<string, unknown> =>
  JSON.parse(JSON.parse(fieldOf(text, 'extra') ?? '""') as string) as Record<string, unknown>

test('a receiver gets each record, also one that was away for a while', async () => {
  const home = tempDir('query-log')
  const [socket, first, second] = ['socket', 'first', 'second'].map((name) => join(home, name))
  const capture = startCapture(socket!, first!)
  const node = await loggingNode({ kind: 'socket', path: socket! })
  const at = { host: '127.0.0.1', port: node.port }
  const { queryLog } = node
  await waitUntil('the receiver', () => queryLog.counts().isUp)
  await ask(at, 'turns.test. A')
  await ask(at, 'dice.test. A', { tcp: true })
  await ask(at, 'x.test. A')
  await waitUntil('three records', () => queryLog.counts().written === 3)

  await capture.stop('SIGTERM')
  await waitUntil('the loss to be seen', () => !queryLog.counts().isUp)
  await ask(at, 'turns.test. A')
  await waitUntil('a record to be lost', () => queryLog.counts().droppedAway === 1)

  const again = startCapture(socket!, second!)
  await waitUntil('the receiver again', () => queryLog.counts().isUp)
  await ask(at, 'turns.test. A')
  await waitUntil('one more record', () => queryLog.counts().written === 4)
  // It says that this was all, and hears that it was taken.
  await node.finish()
  await again.stop('SIGTERM')

  const records = decoded(first!)
  const told = records.map((text) => [
    ...['type', 'socket_family', 'socket_protocol', 'query_address'].map((name) =>
      fieldOf(text.slice(text.indexOf('message {')), name),
    ),
    fieldOf(text, 'identity'),
    extraOf(text)['member'] ?? extraOf(text)['reason'],
  ])
  expect(told.toSorted()).toEqual(
    [
      ['AUTH_RESPONSE', 'INET', 'UDP', '"\\177\\000\\000\\001"', '"n1"', 'fra1'],
      ['AUTH_RESPONSE', 'INET', 'UDP', '"\\177\\000\\000\\001"', '"n1"', 'nxdomain'],
      [
        ...['AUTH_RESPONSE', 'INET', 'TCP', '"\\177\\000\\000\\001"', '"n1"'],
        expect.stringMatching(/^(fra1|ams1|192\.0\.2\.3)$/) as string,
      ],
    ].toSorted(),
  )
  for (const text of records) {
    for (const name of ['query_message', 'response_message', 'query_time_nsec', 'query_port']) {
      expect(fieldOf(text, name)).toBeDefined()
    }
    // What protoc does not know it prints by number.
    expect(text).not.toMatch(/^\s*\d+: /m)
  }
  expect(decoded(second!)).toHaveLength(1)
  const printed = await runCli('query-log', 'print', '--json', first!, second!)
  expect(printed.exit).toBe(0)
  expect(printed.out.trimEnd().split('\n')).toHaveLength(4)
})

test('a daemon writes what fstrm_dump and protoc read, and counts it', async () => {
  const file = join(tempDir('query-log'), 'log')
  const site = await Site.make('query-log', {
    queryLog: { file, sampleEvery: 1 },
    state: { nodeName: 'node-7' },
  })
  await site.push()
  const daemon = await start('serve', '--settings', site.settingsFile)
  await waitUntil('the answer', async () =>
    (await daemon.answers('www.example.com. A')).some((line) => line.includes('192.0.2.1')),
  )
  const sample = 'gslbd_query_log_records_total{result="written"}'
  const written = async (): Promise<number> => (await daemon.metrics()).get(sample) ?? 0
  await waitUntil('it to be logged', async () => (await written()) > 0)
  expect((await daemon.metrics()).get('gslbd_query_log_up')).toBe(1)
  expect((await daemon.stop()).code).toBe(0)
  const last = decoded(file).at(-1) ?? ''
  expect(fieldOf(last, 'version')).toMatch(/^"gslbd \d/)
  const commit = await site.git('rev-parse', 'HEAD')
  expect(extraOf(last)).toMatchObject({ node: 'node-7', service: 'www', member: 'a', commit })
})
