// What becomes of a zone's follower when gslb.yaml changes where the zone comes from.
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { WriteRequest } from '#config/operation.ts'
import { LiveConfigView } from '#config/view.ts'
import { systemClock } from '#lib/clock.ts'
import { err } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { InboundZones } from '#import/inbound/inbound-zones.ts'
import { createMemoryKeptTexts } from '#state/memory/kept-texts.ts'
import { entryOf } from '#test/support/config-view.ts'
import { silentLog } from '#test/support/ephemeral-adapters.ts'
import { waitUntil as waitFor } from '#test/support/wait-until.ts'

/** Less than the time after which a silent server is left anyway. */
const waitUntil = (what: string, is: () => boolean) => waitFor(what, is, { timeoutMs: 8_000 })

const servers: SilentServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

/** Takes connections, and says nothing. */
class SilentServer {
  readonly open = new Set<Socket>()
  readonly #server: Server
  taken = 0

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => {
      this.taken++
      this.open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => this.open.delete(socket))
      socket.resume()
    })
  }

  static async listening(): Promise<SilentServer> {
    const server = createServer()
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const silent = new SilentServer(server)
    servers.push(silent)
    return silent
  }

  get place(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy()
    await new Promise((resolve) => {
      this.#server.close(resolve)
    })
  }
}

function settingsWith(names: readonly string[], primary: SilentServer | undefined) {
  const from = primary === undefined ? {} : { from: { primaries: [primary.place] } }
  const nameservers = [{ name: 'ns1.example.net.' }]
  const zones = names.map((name) => ({ name, nameservers, ...from }))
  return entryOf('Settings', 'gslb.yaml', 'settings', { zones })
}

let revision = 0
function commit(
  config: LiveConfigView,
  names: readonly string[],
  primary: SilentServer | undefined,
): void {
  const changed = [settingsWith(names, primary)]
  config.apply({ isWhole: false, revision: `r${++revision}`, changed, removed: [] })
}

function made(config: LiveConfigView): { zones: InboundZones; written: WriteRequest[] } {
  const written: WriteRequest[] = []
  const write = async (request: WriteRequest) => {
    written.push(request)
    const message = 'nothing is to be written'
    return err({ code: 'internal', message, operation: 0, diagnostics: [] } as const)
  }
  const zones = new InboundZones({
    ...{ config, write, clock: systemClock, after: systemAfter, log: silentLog },
    findKey: () => undefined,
    contacts: { of: () => 0, heard: () => undefined, flush: () => undefined },
    shared: createMemoryKeptTexts(systemClock),
    random: { next: () => 0 },
  })
  return { zones, written }
}

test('a transfer from a server that is no primary server any more is cut off', async () => {
  const [old, other] = [await SilentServer.listening(), await SilentServer.listening()]
  const config = new LiveConfigView()
  commit(config, ['example.com.'], old)
  const { zones, written } = made(config)
  zones.start()
  await waitUntil('the first server to be asked', () => old.open.size === 1)
  commit(config, ['example.com.'], other)
  await waitUntil('the first server to be left', () => old.open.size === 0)
  await waitUntil('the other one to be asked', () => other.open.size === 1)
  commit(config, ['example.com.'], undefined)
  await waitUntil('the other one to be left', () => other.open.size === 0)
  expect(zones.status()).toEqual([])
  await zones.stop()
  expect([old.taken, other.taken, written.length]).toEqual([1, 1, 0])
})

test('what waits for its turn ends at once, and takes the turn of nobody', async () => {
  const [old, other] = [await SilentServer.listening(), await SilentServer.listening()]
  const names = Array.from({ length: 7 }, (_, i) => `z${i}.example.com.`)
  const config = new LiveConfigView()
  commit(config, names, old)
  const { zones } = made(config)
  zones.start()
  await waitUntil('four transfers at once', () => old.open.size === 4)
  commit(config, names, other)
  await waitUntil('the first server to be left', () => old.open.size === 0)
  await waitUntil('four transfers from the other one', () => other.open.size === 4)
  commit(config, names.slice(0, 5), undefined)
  await waitUntil('the other one to be left', () => other.open.size === 0)
  commit(config, names, old)
  await waitUntil('four transfers again', () => old.open.size === 4)
  await zones.stop()
  expect(other.taken).toBe(4)
})

test('without `from` an old mark of expiry goes, as it would count again later', async () => {
  const config = new LiveConfigView()
  const transfer = { soa: { serial: 5, refresh: 60, retry: 60, expire: 60 }, expired: true }
  const spec = { zone: 'example.com.', transfer, records: [] }
  const files = [
    settingsWith(['example.com.'], undefined),
    entryOf('Records', 'default/records/a.yaml', 'a', spec),
  ]
  config.apply({ isWhole: true, revision: 'marked', changed: files, removed: [] })
  const { zones, written } = made(config)
  zones.start()
  await waitUntil('the mark to be taken away', () => written.length > 0)
  expect(written.flatMap(({ operations }) => operations)).toMatchObject([
    { verb: 'update', patch: { transfer: { soa: transfer.soa } } },
  ])
  expect(written[0]!.operations[0]).not.toHaveProperty('patch.transfer.expired')
  await zones.stop()
})
