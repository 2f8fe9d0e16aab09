// More nodes than a control node lets wait: each gets each change, and the bounds hold.
import { afterAll, expect, test } from 'vitest'
import type { AddressInfo } from 'node:net'
import { createApp } from '#api/server/app.ts'
import type { ChannelRecord } from '#bundle/signature/channel.ts'
import { BundleFeed } from '#fleet/bundle-feed.ts'
import { createNodeInventory } from '#fleet/node-inventory.ts'
import { readNodeReport } from '#fleet/nodes/node-report.ts'
import { Puller } from '#fleet/puller.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { acceptableRecord } from '#server/node/verify-bundle.ts'
import { portsOf, silentLog } from '#test/support/api-ports.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { signedRecord } from '#test/support/bundle-source.ts'
import { laneCount } from '#test/support/lane.ts'
import { reportOf } from '#test/support/node-reports.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const key = newSigningKey()
const digest = 'a'.repeat(64)
const waitersMax = 10
const count = Math.max(40, laneCount(40))

let seq = 1
const feed = new BundleFeed({
  stored: () => signedRecord(key, { digest, seq }),
  after: systemAfter,
  waitersMax,
})
const inventory = createNodeInventory(systemClock)
const app = createApp(
  portsOf({
    bundles: {
      takeReport: (value) => {
        const report = readNodeReport(value)
        if (report.ok) inventory.report(report.value)
        return report
      },
      heard: async () => ok({ instance: 'ab' }),
      journal: async () => ok({ bytes: 0 }),
      ...{ keys: () => ok(null), certificate: () => ok(null) },
      record: (channel) => feed.record(channel),
      shadowFor: () => '',
      waitForOther: (_, tag, waitMs) => feed.waitForOther(tag, waitMs),
      open: () => undefined,
      openPacked: async () => undefined,
      delta: async () => undefined,
    },
  }),
  [],
)
const nodes: { readonly puller: Puller; readonly seq: () => number }[] = []

function follow(url: string, name: string, seed: number): (typeof nodes)[number] {
  let active: ChannelRecord | undefined
  const puller = new Puller({
    urls: [url],
    channel: 'main',
    token: null,
    pollMs: 50,
    judge: (signed) => acceptableRecord(signed, { trusted: [key], store: null }, active),
    isServing: (record) => active?.seq === record.seq,
    stored: () => new Uint8Array(1),
    activate: async ({ signedRecord: { record } }) => {
      active = record
      return ok('activated')
    },
    report: (pulled) => reportOf(name, { seq: active?.seq ?? 0, ...pulled }),
    clock: systemClock,
    after: systemAfter,
    random: new Random(seed),
    log: silentLog,
    limits: { waitSeconds: 20, headPatienceMs: 60_000, retryAfterMsMax: 50 },
  })
  puller.start()
  return { puller, seq: () => active?.seq ?? 0 }
}

afterAll(async () => {
  feed.close()
  await Promise.all(nodes.map(({ puller }) => puller.stop()))
  await app.close()
})

test('all of many nodes have each change, and none counts the crowd as a fault', async () => {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  for (let i = 0; i < count; i++) nodes.push(follow(`http://127.0.0.1:${port}`, `node-${i}`, i))
  let waitingMost = 0
  for (const wanted of [1, 2, 3]) {
    await waitUntil('the crowd to be turned away', () => feed.counts().turnedAway > wanted * 5)
    waitingMost = Math.max(waitingMost, feed.counts().waiting)
    seq = wanted
    feed.changed()
    await waitUntil(`all to have seq ${wanted}`, () => nodes.every((one) => one.seq() === wanted))
  }
  expect(waitingMost).toBeLessThanOrEqual(waitersMax)
  for (const { puller } of nodes) expect(puller.status().sources[0]!.fault).toBe(null)
  await waitUntil('all to have told', () => {
    const told = inventory.all()
    return told.length === count && told.every(({ report }) => report.seq === 3)
  })
})
