// More threads than cores, and slow to start: the node can be stopped at any moment.
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const slowResponder = fileURLToPath(import.meta.resolve('#test/support/slow-responder.ts'))
/** All together would take several times as long as a thread gets to end by itself. */
const threads = Math.min(256, 32 * availableParallelism())
const slow = useDaemons({ SLOW_RESPONDER_MS: '400' })
const hanging = useDaemons({ SLOW_RESPONDER_MS: '3600000' })
afterEach(slow.killAll)
afterEach(hanging.killAll)
const patience = { timeoutMs: 60_000 } as const
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
    // Those that had not begun are called off.
    expect(starts(daemon)).toBeLessThan(threads)
    const cores = availableParallelism()
    expect(daemon.logged(`dns.threads is ${threads}`)).toMatchObject({ level: 'warn', cores })
  })
}

test('a bundle is active while threads still wait for their turn to start', async () => {
  await site.push()
  const daemon = slow.spawnWith(slowResponder, 'serve', '--settings', site.settingsFile)
  const line = await waitUntil('the bundle', () => daemon.logged('bundle activated'), patience)
  expect(line).toMatchObject({ level: 'info', msg: 'bundle activated' })
  expect(starts(daemon)).toBeLessThan(threads)
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
})

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
