// Tests that a restarted node answers by the health that it knew before.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startTcpBackend } from '#test/support/backend.ts'
import type { Backend } from '#test/support/backend.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { Site, poolPath } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start, killAll } = useDaemons()
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  await killAll()
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const [good, dead, fresh] = ['127.0.0.1', '127.0.0.2', '127.0.0.3']

/** One failure takes a member out; no test is long enough for it, or a new one, to come in. */
function poolOf(port: number, addresses: readonly string[]): string {
  const members = addresses.map(
    (address, i) =>
      `    - { name: m${i}, ipAddress: ${address}, port: 80, warmupThreshold: 1000 }\n`,
  )
  const check = `{ type: tcp, port: ${port}, intervalMs: 500, timeoutMs: 500, riseCount: 100 }`
  const head = 'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: web }\n'
  return `${head}spec:\n  healthCheck: ${check}\n  members:\n${members.join('')}`
}

async function seen(daemon: DaemonProcess): Promise<string[]> {
  const addresses = new Set<string>()
  for (let i = 0; i < 9; i++) {
    for (const line of await daemon.answers('www.example.com. A')) {
      addresses.add(line.split(' ').at(-1)!)
    }
  }
  return [...addresses].sort()
}

async function listenAt(address: string, port: number): Promise<Backend> {
  const backend = await startTcpBackend((socket) => socket.destroy(), port, address)
  cleanups.push(backend.close)
  return backend
}

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  const title = `after ${signal} a dead member stays out and a closed gate stays closed`
  test(title, { timeout: 480_000 }, async () => {
    const site = await Site.make('health-restart', { health: { enabled: true } })
    cleanups.push(() => site.remove())
    const { port } = await listenAt(good, 0)
    const publish = async (addresses: readonly string[]): Promise<void> => {
      site.write(poolPath, poolOf(port, addresses))
      await site.commit(addresses.join())
      await site.push()
    }
    await publish([good, dead])
    const before = await start('serve', '--settings', site.settingsFile)
    await waitUntil('the dead member to be out', async () => (await seen(before)).join() === good)
    await listenAt(fresh, port)
    await publish([good, dead, fresh])
    const activations = () => before.log().filter(({ msg }) => msg === 'bundle activated').length
    await waitUntil('the new member', () => activations() === 2)
    expect(await seen(before)).toEqual([good])

    const file = join(site.dataDir, 'health', 'verdicts.jsonl')
    const stored = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
    // A node that is asked to end writes what is left; one that is killed must have written before.
    if (signal === 'SIGKILL') {
      await waitUntil('both verdicts on disk', () =>
        [dead, fresh].every((address) => stored().includes(address)),
      )
    }
    await before.stop(signal)

    // Now its probes pass: only the stored verdict keeps it out.
    await listenAt(dead, port)
    const after = await start('serve', '--settings', site.settingsFile)
    expect(await seen(after)).toEqual([good])
    await after.stop()
  })
}
