// Tests messages to systemd over its socket, which the test opens.
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openSupervisor } from '#process/supervisor.ts'
import { openLibc } from '#system/sockets/libc.ts'
import { tempDir } from '#test/support/temp-dir.ts'

/** A datagram socket as systemd has it. */
function socketAt(path: string): () => string | undefined {
  const { bindTo } = openLibc()
  const socket = bindTo<(...numbers: number[]) => number>('int socket(int, int, int)')
  const bind = bindTo<(fd: number, address: Buffer, size: number) => number>(
    'int bind(int, void *, unsigned int)',
  )
  const recv = bindTo<(fd: number, into: Buffer, size: number, flags: number) => number>(
    'long recv(int, void *, size_t, int)',
  )
  const close = bindTo<(fd: number) => number>('int close(int)')
  const fd = socket(1, 2, 0)
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : `${path}\0`)
  const address = Buffer.concat([Buffer.from([1, 0]), name])
  expect(bind(fd, address, address.length)).toBe(0)
  onTestFinished(() => void close(fd))
  return () => {
    const into = Buffer.alloc(256)
    const length = recv(fd, into, into.length, 0x40)
    return length < 0 ? undefined : into.toString('utf8', 0, Number(length))
  }
}

test.each([
  ['a path', () => join(tempDir('notify'), 'socket')],
  ['an abstract name', () => `@gslbd-test-${process.pid}`],
])('over %s it is told of the start and the stop, in this order', async (_title, make) => {
  const path = make()
  const next = socketAt(path)
  const supervisor = openSupervisor({ NOTIFY_SOCKET: path })
  supervisor.ready()
  expect(next()).toBe('READY=1\nSTATUS=gslbd is running')
  expect(next()).toBeUndefined()
  supervisor.stopping()
  expect(next()).toBe('STOPPING=1\nSTATUS=gslbd is stopping')
})

test('the supervisor is told the successor, which gets the address of its socket', () => {
  const path = join(tempDir('notify'), 'socket')
  const next = socketAt(path)
  const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }
  const supervisor = openSupervisor(env, 7)
  supervisor.replacedBy(42)
  expect(next()).toBe('MAINPID=42\nSTATUS=gslbd was replaced')
  // The number of the process is not handed on: it is another one.
  expect(supervisor.variables).toEqual({ NOTIFY_SOCKET: path, WATCHDOG_USEC: '30000000' })
})

test('the watchdog gets three signs of life in its time', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const path = join(tempDir('notify'), 'socket')
  const next = socketAt(path)
  openSupervisor({ NOTIFY_SOCKET: path, WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }, 7).ready()
  expect(next()).toContain('READY=1')
  vi.advanceTimersByTime(30_000)
  expect([next(), next(), next(), next()]).toEqual([
    'WATCHDOG=1',
    'WATCHDOG=1',
    'WATCHDOG=1',
    undefined,
  ])
  vi.clearAllTimers()
})

test.each([
  [{}],
  [{ NOTIFY_SOCKET: '' }],
  [{ NOTIFY_SOCKET: 'relative' }],
  [{ NOTIFY_SOCKET: `/${'x'.repeat(200)}` }],
  [{ NOTIFY_SOCKET: '/nowhere/there/is/none', WATCHDOG_USEC: 'x' }],
])('with %j nothing happens', (env) => {
  const supervisor = openSupervisor(env)
  supervisor.ready()
  supervisor.stopping()
})
