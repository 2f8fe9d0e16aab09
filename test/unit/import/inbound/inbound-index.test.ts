// The files of a zone are found once for each state of the configuration, whatever the zones.
import { expect, test } from 'vitest'
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigView } from '#config/view.ts'
import type { JsonObject } from '#compiler/yaml/text.ts'
import { InboundZones } from '#import/inbound/inbound-zones.ts'
import { systemClock } from '#lib/clock.ts'
import { createMemoryKeptTexts } from '#state/memory/kept-texts.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { entryOf, viewOf } from '#test/support/config-view.ts'

const soa = { serial: 1, refresh: 3_600, retry: 600, expire: 86_400 }

test('a status and a commit look at each file of any zone once', () => {
  const count = 60
  let looks = 0
  const names = Array.from({ length: count }, (_, i) => `zone${i}.example.com.`)
  const zones = names.map((name) => ({
    ...{ name, nameservers: [{ name: 'ns1.example.net.' }] },
    from: { primaries: ['192.0.2.53'] },
  })) as unknown as JsonObject[]
  const files = names.map((zone, i): ConfigEntry => {
    const path = `tenants/default/records/n${i}.yaml`
    const entry = entryOf('Records', path, `n${i}`, { zone, transfer: { soa }, records: [] })
    const { object } = entry
    return {
      ...entry,
      get object() {
        looks++
        return object
      },
    }
  })
  const snapshots = [0, 1].map(() =>
    viewOf(entryOf('Settings', 'gslb.yaml', 'settings', { zones }), ...files).snapshot(),
  )
  let now = snapshots[0]!
  let tell: () => void = () => undefined
  const onChange = (handler: () => void) => {
    tell = handler
    return () => undefined
  }
  const config = { isReady: () => true, snapshot: () => now, onChange } as unknown as ConfigView
  const inbound = new InboundZones({
    ...{ config, clock: systemClock, random: { next: () => 0 }, log: silentLog },
    write: () => Promise.reject(new Error('nothing is written')),
    findKey: () => undefined,
    shared: createMemoryKeptTexts(systemClock),
    contacts: { of: () => 0, heard: () => undefined, flush: () => undefined },
    after: () => () => undefined,
  })
  looks = 0
  inbound.start()
  expect(inbound.status().map(({ serial }) => serial)).toEqual(names.map(() => 1))
  now = snapshots[1]!
  tell()
  // Each file: in the index of either state, and for each zone that asks for its own.
  expect(looks).toBeLessThanOrEqual(count * 16)
})
