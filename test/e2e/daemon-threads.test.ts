// More threads than cores, and slow to start: the node can be stopped at any moment.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const dyingResponder = fileURLToPath(import.meta.resolve('#test/support/dying-responder.ts'))
const slowResponder = fileURLToPath(import.meta.resolve('#test/support/slow-responder.ts'))
/** All together would take several times as long as a thread gets to end by itself. */
const threads = Math.min(256, 32 * availableParallelism())
const slow = useDaemons({ SLOW_RESPONDER_MS: '400' })
const hanging = useDaemons({ SLOW_RESPONDER_MS: '3600000' })
afterEach(slow.killAll)
afterEach(hanging.killAll)
const patience = { timeoutMs: 180_000 } as const
let site: Site

beforeAll(async () => {
  site = await Site.make('threads')
  site.writeSettings({ dns: { threads } })
})
afterAll(() => site.remove())

const starts = ({ stdout }: DaemonProcess): number => stdout.split('a responder starts').length - 1

const moments = [
  { when: 'its data directory is open', says: 'the data directory was' },
  { when: 'its first threads start', says: 'a responder starts' },
  { when: 'it runs and threads still start', says: 'gslbd is running' },
]

for (const { when, says } of moments) {
  test(`SIGTERM when ${when} ends a node of many threads cleanly`, async () => {
    const daemon = slow.spawnWith(slowResponder, 'serve', '--settings', site.settingsFile)
    await waitUntil(says, () => daemon.stdout.includes(says), patience)
    const ended = await daemon.stop()
    expect({ ...ended, stderr: daemon.stderr }).toEqual({ code: 0, signal: null, stderr: '' })
    expect(daemon.log().at(-1)?.msg).toBe('gslbd has stopped')
    // Threads that had not begun to start are called off.
    expect(starts(daemon)).toBeLessThan(threads)
    const cores = availableParallelism()
    expect(daemon.logged(`dns.threads is ${threads}`)).toMatchObject({ level: 'warn', cores })
  })
}

test('a bundle is active, and all get it, while threads still wait for their turn', async () => {
  await site.push()
  const daemon = slow.spawnWith(slowResponder, 'serve', '--settings', site.settingsFile)
  await daemon.running()
  const line = await waitUntil('the bundle', () => daemon.logged('bundle activated'), patience)
  expect(line).toMatchObject({ level: 'info', msg: 'bundle activated' })
  // Each from a port of its own: the system spreads them over all sockets that get queries.
  const questions = Array.from({ length: 200 }, () => daemon.answers('www.example.com. A'))
  expect(new Set((await Promise.all(questions)).flat())).toEqual(
    new Set(['www.example.com. 5 IN A 192.0.2.1']),
  )
  expect(starts(daemon)).toBeLessThan(threads)
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})

test('no bundle is called active where every thread dies as it starts', async () => {
  const fresh = await Site.make('dying', { dns: { threads: 2 } })
  onTestFinished(() => fresh.remove())
  await fresh.push()
  const daemon = slow.spawnWith(dyingResponder, 'serve', '--settings', fresh.settingsFile)
  const line = await waitUntil('the bundle', () => daemon.logged('bundle activated'), patience)
  expect(line).toMatchObject({ level: 'error' })
  const pauses = daemon.log().flatMap(({ pauseMs }) => (pauseMs === undefined ? [] : [pauseMs]))
  // Longer from death to death, up to 5 s: no publication ends the row.
  expect(pauses).toEqual(pauses.map((_, i) => Math.min(10 * 2 ** i, 5_000)))
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})

test('a start that fails beside a thread that never gets ready ends in time', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  site.writeSettings({ dns: { threads: 1 }, api: { port } })
  const daemon = hanging.spawnWith(slowResponder, 'serve', '--settings', site.settingsFile)
  expect(await daemon.ended).toEqual({ code: 1, signal: null })
  expect(daemon.log().at(-1)?.msg).toContain('not stopped within 25 s')
}, 120_000)

test('a second signal ends a node whose thread never gets ready, with 1 and a reason', async () => {
  site.writeSettings({ dns: { threads: 1 } })
  const daemon = hanging.spawnWith(slowResponder, 'serve', '--settings', site.settingsFile)
  await daemon.running()
  await waitUntil('a thread', () => starts(daemon) > 0, patience)
  daemon.signal('SIGTERM')
  await waitUntil('the stop', () => daemon.logged('stopping'), patience)
  await waitUntil('the end', () => {
    // The first repeats may count as the echo of one keystroke.
    daemon.signal('SIGTERM')
    return daemon.isOver
  })
  const ended = await daemon.ended
  expect({ ...ended, stderr: daemon.stderr }).toEqual({ code: 1, signal: null, stderr: '' })
  expect(daemon.log().at(-1)?.msg).toContain('SIGTERM came a second time: the process ends now')
})
