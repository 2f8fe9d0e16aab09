// Tests signals to a slow daemon; the others are in test/e2e/daemon-process.test.ts.
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { waitUntil } from '#test/support/wait-until.ts'
import { onlyLong } from '#test/support/lane.ts'

const script = fileURLToPath(new URL('./slow-daemon.ts', import.meta.url))

interface Child {
  readonly process: ChildProcessByStdio<null, Readable, null>
  readonly said: () => string
  readonly untilSaid: (text: string) => Promise<unknown>
}

/**
 * @param order what the daemon is slow at: `start`, `start until called off`, `reload` or `stop`;
 *   `reload fails`; `stop without a pause`, in which nothing else of it can run
 * @param patienceMs from the first signal to the end
 */
function run(order: string, ...patienceMs: readonly number[]): Child {
  const child = spawn(process.execPath, [script, order, ...patienceMs.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const untilSaid = (part: string) => waitUntil(part, () => text.includes(part))
  return { process: child, said: () => text, untilSaid }
}

test('a second signal, a while after the first, ends a stop that hangs with code 1', async () => {
  const { process: child, said, untilSaid } = run('stop')
  await untilSaid('running')
  child.kill('SIGTERM')
  await untilSaid('stopping')
  const exited = once(child, 'exit')
  // The first repeats may count as the echo of one keystroke.
  const again = setInterval(() => child.kill('SIGINT'), 20)
  expect(await exited).toEqual([1, null])
  clearInterval(again)
  expect(said()).toContain('SIGINT came a second time: the process ends now')
})

test.each(['start', 'stop'])('a %s that takes too long after a signal is cut off', async (what) => {
  const { process: child, said, untilSaid } = run(what, 20)
  await untilSaid(what === 'start' ? 'starting' : 'running')
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([1, null])
  expect(said()).toContain('not stopped within 0.02 s: the process ends now')
})

onlyLong(() => {
  test('a main thread that hangs while it stops is ended by the system', async () => {
    const { process: child, said, untilSaid } = run('stop without a pause', 20)
    await untilSaid('running')
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([null, 'SIGALRM'])
    expect(said()).toContain('stopping')
  })
})

test('a hangup and a stop during the start are worked off after it', async () => {
  const { process: child, said, untilSaid } = run('start')
  await untilSaid('starting')
  child.kill('SIGHUP')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  const lines = said().trim().split('\n')
  expect(lines.slice(0, 2)).toEqual(['starting', 'running'])
  expect(lines.filter((line) => line.startsWith('reload'))).toHaveLength(2)
  expect(lines.at(-1)).toBe('stopped')
})

test('a stop calls a start off, which is no fault', async () => {
  const { process: child, said, untilSaid } = run('start until called off')
  await untilSaid('starting')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(said()).toBe('starting\n')
})

test('reloads come one after the other, and a stop waits for the one under way', async () => {
  const { process: child, said, untilSaid } = run('reload')
  await untilSaid('running')
  child.kill('SIGHUP')
  await untilSaid('reload 1 begins')
  child.kill('SIGHUP')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  const lines = said().trim().split('\n')
  const reloads = lines.filter((line) => line.startsWith('reload'))
  const expected = ['reload 1 begins', 'reload 1 ends', 'reload 2 begins', 'reload 2 ends']
  expect(reloads).toEqual(expected.slice(0, reloads.length))
  expect(reloads.length % 2).toBe(0)
  expect(lines.at(-1)).toBe('stopped')
})

test('a reload that fails is said, and the daemon goes on', async () => {
  const { process: child, said, untilSaid } = run('reload fails')
  await untilSaid('running')
  child.kill('SIGHUP')
  await untilSaid('the reload failed')
  child.kill('SIGHUP')
  await untilSaid('reload 2 begins')
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(said().trim().split('\n').at(-1)).toBe('stopped')
})
