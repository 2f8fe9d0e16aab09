// The guard of a node, and the command: whom they tell what, and when they keep quiet.
import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import type { DriverSection } from '#node/anycast/drivers.ts'
import { Guard } from '#node/anycast/guard.ts'
import { release, watchNode } from '#node/anycast/watch.ts'
import type { Log } from '#lib/log.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { openNamedPipe } from '#test/support/named-pipe.ts'
import { runCli } from '#test/support/run-cli.ts'
import { runProgram } from '#test/support/run-program.ts'
import { tempDir } from '#test/support/temp-dir.ts'

/** A driver whose daemon reads a pipe, and says nothing. */
function scene() {
  const directory = tempDir('guard')
  const pipe = join(directory, 'commands')
  const { told, close } = openNamedPipe(pipe)
  onTestFinished(close)
  const section: DriverSection = {
    ...{ driver: 'exabgp', addresses: ['192.0.2.53'] },
    bird: { socket: join(directory, 'bird.ctl'), protocols: ['gslbd'] },
    exabgp: { pipe, routes: [], attributes: 'next-hop self' },
  }
  const settings = join(directory, 'gslbd.yaml')
  writeFileSync(settings, JSON.stringify({ anycast: section }))
  return { section, settings, pipe, told }
}

const withdrawal = 'withdraw route 192.0.2.53/32 next-hop self\n'
const lineOf = (section: object): string => `${JSON.stringify(section)}\n`

function watched(...texts: readonly string[]) {
  const input = new PassThrough()
  for (const text of texts) input.write(text)
  return { input, outcome: watchNode(input) }
}

test('a guard waits as long as the node lives, and withdraws when it ends', async () => {
  const { section, told } = scene()
  const line = lineOf(section)
  const { input, outcome } = watched(line.slice(0, 10), line.slice(10))
  await new Promise((resolve) => setImmediate(resolve))
  expect(told()).toBe('')
  input.end()
  expect(await outcome).toMatchObject({ ok: true, value: { withdrawn: true } })
  expect(told()).toBe(withdrawal)
})

test('a connection that breaks is an end as well', async () => {
  const { section, told } = scene()
  const { input, outcome } = watched(lineOf(section))
  await new Promise((resolve) => setImmediate(resolve))
  input.destroy(new Error('reset'))
  await outcome
  expect(told()).toBe(withdrawal)
})

test('a node that says goodbye is none of its business any more', async () => {
  const { section, told } = scene()
  const { input, outcome } = watched(lineOf(section), release)
  input.end()
  expect(await outcome).toEqual({ ok: true, value: { withdrawn: false, reply: '' } })
  expect(told()).toBe('')
})

test.each([
  ['nothing', ''],
  ['half a line', '{"driver":"exa'],
  ['the name of no driver', lineOf({ driver: 'frr' })],
])('a node that died before it had said what: %s', async (_what, text) => {
  const { input, outcome } = watched(text)
  input.end()
  expect(await outcome).toEqual({ ok: false, error: 'it was not told what to withdraw' })
})

/** A process that ends when the test says so. */
class FakeProcess extends EventEmitter {
  readonly stdin = new PassThrough()
  unref(): void {}
}

test('a guard that ends is started again, soon when it had been stable before', async () => {
  const time = new FakeTime(0)
  const started: FakeProcess[] = []
  const startProcess = (): ChildProcess => {
    started.push(new FakeProcess())
    return started.at(-1) as unknown as ChildProcess
  }
  const pausesMs: unknown[] = []
  const warn = (fields: object): void => void pausesMs.push('pauseMs' in fields && fields.pauseMs)
  const log: Log = { info: () => undefined, warn, error: () => undefined }
  const around = { clock: time.clock, after: time.after, startProcess }
  const guard = new Guard(scene().section, {}, log, around)
  const die = (aliveMs: number): void => {
    time.pass(aliveMs)
    expect(guard.isWatching).toBe(true)
    started.at(-1)!.emit('exit', 1, null)
    expect(guard.isWatching).toBe(false)
    time.pass(Number(pausesMs.at(-1)))
  }
  // Seven that die at once, one a month for half a year, and again two in a row.
  for (let i = 0; i < 8; i++) die(0)
  for (let i = 0; i < 6; i++) die(30 * 86_400_000)
  die(0)
  expect(pausesMs).toEqual(
    [1, 2, 4, 8, 16, 32, 60, 60, 1, 1, 1, 1, 1, 1, 2].map((seconds) => seconds * 1_000),
  )
  const ending = guard.end()
  started.at(-1)!.emit('exit', 0, null)
  await ending
  expect([started.length, time.waiting]).toEqual([16, 0])
})

const starving = `
import { openSync } from 'node:fs'
import { Guard } from '#node/anycast/guard.ts'
const say = (_, line) => console.log(line)
for (let isFull = false; !isFull;) try { openSync('/dev/null') } catch { isFull = true }
const guard = new Guard({}, process.env, { warn: say })
setImmediate(() => guard.end())
`

test('a node without a file descriptor for a guard lives, and tries again', () => {
  const limited = 'ulimit -n 64 && exec "$0" --input-type=module --eval "$1"'
  const cwd = join(import.meta.dirname, '../../..')
  const told = runProgram('sh', ['-c', limited, process.execPath, starving], { cwd })
  expect(told.toString()).toContain('has ended: started again')
})

test('the command withdraws without a node, and says what the daemon said', async () => {
  const { settings, told } = scene()
  const ran = await runCli('anycast', 'withdraw', '--settings', settings)
  expect(ran).toMatchObject({ exit: 0, out: 'commands written: 1\n' })
  expect(told()).toBe(withdrawal)
})

test('the command has nothing to do where nothing is announced', async () => {
  const file = join(tempDir('anycast'), 'gslbd.yaml')
  writeFileSync(file, '{}')
  const ran = await runCli('anycast', 'withdraw', '--settings', file)
  expect(ran).toMatchObject({ exit: 0 })
  expect(ran.out).toContain('anycast.driver is none')
})

test('a daemon that cannot be told is exit 1, a wrong call 2', async () => {
  const { section, settings } = scene()
  writeFileSync(settings, JSON.stringify({ anycast: { ...section, driver: 'bird' } }))
  const ran = await runCli('anycast', 'status', '--settings', settings)
  expect(ran).toMatchObject({ exit: 1 })
  expect(ran.err).toContain('there is no such socket')
  for (const words of [[], ['announce'], ['status', 'now']]) {
    expect(await runCli('anycast', ...words)).toMatchObject({ exit: 2 })
  }
})
