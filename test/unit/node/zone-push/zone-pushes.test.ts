// Targets as the settings name them, on a node: where secrets come from, and what is shown.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadBundle } from '#bundle/load/load.ts'
import { createCompiler } from '#compiler/compile.ts'
import { ZonePushes } from '#node/zone-push/zone-pushes.ts'
import { createZonePushView, pushFacts, pushSnapshots } from '#node/zone-push/zone-push-view.ts'
import type { ZonePushSection } from '#settings/pushes/zone-push.ts'
import { WrittenRecords } from '#zones/dynamic/written-records.ts'
import { keptLog } from '#test/support/certificates.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { startCloudflare } from '#test/support/zone-push/cloudflare-stand-in.ts'
import { memoryPushes } from '#test/support/zone-push/memory-target.ts'
import {
  settings as exampleZone,
  zone as exampleZoneOf,
  zonesOf,
} from '../../compiler/record-files.ts'

function bundle(config = exampleZone) {
  const result = createCompiler().compile([config], { commit: '' })
  assert(result.ok)
  const loaded = loadBundle(result.bundle.bytes)
  assert(loaded.ok)
  return loaded.value
}

function pushesOf(
  targets: ZonePushSection['targets'],
  env: NodeJS.ProcessEnv = {},
  active = bundle(),
) {
  const time = new FakeTime(Date.UTC(2026, 10, 30))
  const pushes = new ZonePushes({
    ...{ settings: { targets }, store: memoryPushes(), bundle: () => active, env },
    written: new WrittenRecords(),
    ...{ verdictOf: () => undefined, node: 'c1', instance: 'x', clock: time.clock },
    log: keptLog().log,
  })
  const view = createZonePushView(pushes, time.clock)
  const look = async (): Promise<void> => {
    await pushes.look()
    for (const pusher of pushes.pushers) await pusher.idle()
  }
  return { pushes, view, look, time }
}

test('a zone is pushed, and its push is shown', async () => {
  const { url, world, put } = await startCloudflare('c1', 'hush')
  put({ type: 'A', name: 'x.example.com', content: '192.0.2.7' })
  const token = join(tempDir('token'), 'token')
  writeFileSync(token, 'hush\n')
  const edge = {
    type: 'cloudflare',
    zone: 'example.com',
    zoneId: 'c1',
    url: `${url}/`,
    apexNs: true,
  }
  const { pushes, view, look } = pushesOf({ edge }, { GSLB_ZONE_PUSH_EDGE_TOKEN_FILE: token })
  expect(view.list()).toMatchObject([{ name: 'edge', state: 'waiting', node: null, lookedAtMs: 0 }])
  expect(pushSnapshots(pushes)).toMatchObject([{ target: 'edge', isUp: null }])
  const planned = await view.plan('edge')
  expect(planned).toMatchObject({ value: { adds: 1, deletes: 0, counts: { foreign: 1 } } })
  await look()
  expect([...world.records.values()].map(({ content }) => content)).toEqual([
    '192.0.2.7',
    'ns1.example.net',
  ])
  expect(view.list()).toMatchObject([
    {
      state: 'synced',
      node: 'c1',
      same: 1,
      foreign: 1,
      written: 1,
      error: '',
      zone: 'example.com.',
    },
  ])
  expect(pushSnapshots(pushes)).toMatchObject([
    { isUp: true, isHeld: false, written: 1, records: { same: 1, pending: 0, foreign: 1 } },
  ])
  expect(pushFacts(pushes)).toEqual([
    { name: 'edge', zone: 'example.com.', fault: '', held: null, drift: 0 },
  ])
  expect(await view.plan('other')).toBeNull()
  expect(await view.ask('other', { plan: '', adopt: false })).toBeNull()
  await pushes.stop()
})

test('nothing is taken away for a zone from elsewhere whose records are not here', async () => {
  const from = ', from: { primaries: [192.0.2.53] }'
  const absent = bundle(zonesOf(exampleZoneOf('example.com.', from)))
  const edge = { type: 'cloudflare', zone: 'example.com', zoneId: 'c1' }
  const { view, look } = pushesOf({ edge }, { GSLB_ZONE_PUSH_EDGE_TOKEN: 'hush' }, absent)
  await look()
  const [shown] = view.list()
  expect(shown).toMatchObject({ state: 'failing' })
  expect(JSON.stringify(shown)).toContain('the records of example.com. are not here')
})

describe('what is missing is named, and nothing is asked', () => {
  const zone = 'example.com'
  const key = (name: string): string =>
    `key "${name}" { algorithm hmac-sha256; secret "${Buffer.alloc(32, 1).toString('base64')}"; };\n`
  const server = '192.0.2.53'
  test.each([
    [
      { type: 'cloudflare', zone, zoneId: 'c1' },
      'GSLB_ZONE_PUSH_MY_EDGE_TOKEN is not set; set it, or GSLB_ZONE_PUSH_MY_EDGE_TOKEN_FILE to a file with it',
    ],
    [{ type: 'route53', zone, zoneId: 'Z1' }, 'GSLB_ZONE_PUSH_MY_EDGE_ACCESS_KEY_ID is not set'],
    [{ type: 'rfc2136', zone, server, keyFile: '/none' }, 'there is no file /none'],
    [{ type: 'rfc2136', zone, server, keyFile: '' }, 'has 2 keys; name one of them: key'],
    [{ type: 'rfc2136', zone, server, keyFile: '', key: 'c.example' }, 'has no key c.example.'],
    [
      { type: 'cloudflare', zone: 'example.org', zoneId: 'c1' },
      'the configuration has no zone example.org.; nothing is taken away at the target',
    ],
  ])('%o', async (target, error) => {
    const keyFile = join(tempDir('keys'), 'keys')
    writeFileSync(keyFile, key('a.example') + key('b.example'), { mode: 0o600 })
    const named = 'keyFile' in target && target.keyFile === '' ? { ...target, keyFile } : target
    const { view, look, pushes } = pushesOf({ 'my-edge': named })
    await look()
    const [shown] = view.list()
    expect(shown).toMatchObject({ state: 'failing' })
    expect(shown!.error).toContain(error)
    expect(pushSnapshots(pushes)).toMatchObject([{ isUp: false }])
    expect(pushFacts(pushes)[0]!.fault).toContain(error)
  })
})

test('a node without targets pushes nothing', () => {
  expect(createZonePushView(null, { nowMs: () => 0 }).list()).toEqual([])
  expect(pushSnapshots(null)).toEqual([])
})
