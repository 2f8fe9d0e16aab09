// Why a secondary that asks for changes gets the whole zone, as counters and the log say it.
import { expect, test } from 'vitest'
import type { ServingView } from '#answer/serving-view.ts'
import { RrType } from '#dns/rrtype.ts'
import { historyLimits, transferLimits } from '#zones/transfer/limits.ts'
import type { TransferLimits } from '#zones/transfer/limits.ts'
import { TransferHistory } from '#zones/transfer/transfer-history.ts'
import { Transfers } from '#zones/transfer/transfers.ts'
import type { RunningTransfer } from '#zones/transfer/transfers.ts'
import { ZoneSources } from '#zones/transfer/zone-sources.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { query } from '#test/support/dns/message.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { a } from '#test/support/dns/record.ts'

/** @param hasDigest what the zone says of it; left out: nothing */
function viewOf(serial: number, names: readonly string[], hasDigest?: boolean): ServingView {
  const lines = names.map((name) => `${name} 60 A 192.0.2.1\n`).join('')
  const written = `@ 60 ZONEMD 1 1 1 ${'00'.repeat(48)}\n`
  const text = `@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\n${written}${lines}`
  const model = modelOf({ name: 'example.com.', text })
  const zoneDigests = hasDigest === undefined ? {} : { 'example.com.': hasDigest }
  const bundle = bundleOf({ ...model, routing: { ...model.routing, zoneDigests } })
  return { bundle, state: { soaSerial: Uint32Array.of(serial) } } as unknown as ServingView
}

class Scene {
  readonly told: object[] = []
  readonly transfers: Transfers
  readonly #sources: ZoneSources

  constructor(
    limits: Partial<TransferLimits> = {},
    changesMax = historyLimits.changesMax,
    zonemd = false,
  ) {
    const history = new TransferHistory(() => 0, { ...historyLimits, changesMax })
    this.#sources = new ZoneSources(transferLimits, history)
    const settings = { enabled: true, requireTsig: false, allow: [], zonemd }
    const log = { debug: (fields: object) => void this.told.push(fields) }
    const parts = { history, log, limits: { ...transferLimits, ...limits } }
    this.transfers = new Transfers(settings, () => 0, parts)
  }

  serve(serial: number, names: readonly string[], hasDigest?: boolean): void {
    this.#sources.adopt(viewOf(serial, names, hasDigest))
  }

  /** @param have null: it asks for the whole zone */
  begin(client: number, have: number | null, isTcp = true): RunningTransfer {
    const authority = have === null ? [] : [a(`example.com. 0 IN SOA . . ${have} 0 0 0 0`)]
    const qtype = have === null ? RrType.AXFR : RrType.IXFR
    const question = `example.com. ${have === null ? 'AXFR' : 'IXFR'}`
    const running = this.transfers.start(this.#sources.current(), {
      ...{ message: query(question, { authority }), key: null, qtype },
      ...{ questionEnd: query(question).length, qclass: 1, isTcp, zone: 0 },
      ...{ client: Uint8Array.of(192, 0, 2, client), opt: new Uint8Array(0) },
    })
    return typeof running === 'number' ? expect.unreachable() : running
  }

  ask(client: number, have: number): void {
    finish(this.begin(client, have))
  }
}

function messagesOf(running: RunningTransfer): Buffer[] {
  const into = new Uint8Array(65_535)
  const sent: Buffer[] = []
  for (let length; (length = running.write(into, into.length)) !== 0;) {
    if (length > 0) sent.push(Buffer.from(into.slice(0, length)))
  }
  running.end()
  return sent
}

/** @returns what was sent */
const finish = (running: RunningTransfer): Buffer => Buffer.concat(messagesOf(running))

/** RFC 5936 section 2.2.1. yadifa takes no message without it. */
test('each message of a transfer has AA', () => {
  const scene = new Scene()
  const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `n${i}`)
  scene.serve(1, names(3_000))
  // QR and AA, in the octet of RD and TC.
  const withAa = (messages: readonly Buffer[]): number => {
    expect(new Set(messages.map((octets) => octets[2]))).toEqual(new Set([0x84]))
    return messages.length
  }
  expect(withAa(messagesOf(scene.begin(1, null)))).toBe(4)
  scene.serve(2, names(5_000))
  const asked = [1, 0, 2].map((have) => withAa(messagesOf(scene.begin(1, have))))
  expect(asked).toEqual([3, 7, 1])
  expect(withAa(messagesOf(scene.begin(1, 1, false)))).toBe(1)
})

test.each([
  [false, undefined, false],
  [true, undefined, true],
  [false, true, true],
  [true, false, false],
])('a node that says %s, a zone that says %s: with a digest %s', (zonemd, hasDigest, isMade) => {
  const scene = new Scene({}, 1, zonemd)
  scene.serve(1, ['a'], hasDigest)
  // The one that somebody wrote is all zeros.
  expect(finish(scene.begin(1, 0)).includes(Buffer.alloc(48))).toBe(!isMade)
})

test('a zone that comes to have a digest, or not, is sent whole once', () => {
  const scene = new Scene()
  let serial = 0
  const counted = (hasDigest: boolean): readonly number[] => {
    scene.serve(++serial, [...many, `m${serial}`], hasDigest)
    scene.ask(1, serial - 1)
    const { started, incremental } = scene.transfers.counts
    return [started, incremental]
  }
  expect([false, false, true, true, false, false].map(counted)).toEqual([
    ...[
      [1, 0],
      [1, 1],
      [2, 1],
      [2, 2],
      [3, 2],
      [3, 3],
    ],
  ])
})

const many = Array.from({ length: 50 }, (_, i) => `n${i}`)

test('unknown, old and large ones are told apart', () => {
  const scene = new Scene({}, 1)
  scene.serve(1, ['a'])
  scene.ask(1, 0)
  scene.ask(2, 0)
  scene.serve(2, ['b'])
  scene.ask(1, 1)
  // Another address has it from elsewhere.
  scene.ask(3, 1)
  scene.serve(3, ['c'])
  scene.ask(2, 1)
  scene.ask(1, 2)
  scene.serve(4, many)
  scene.ask(1, 3)
  const zone = 'example.com.'
  expect(scene.told).toEqual([
    { zone, serial: 0, reason: 'unknown' },
    { zone, serial: 0, reason: 'unknown' },
    { zone, serial: 1, reason: 'unknown' },
    { zone, serial: 1, reason: 'old' },
    { zone, serial: 3, reason: 'large' },
  ])
  const counts = { started: 5, incremental: 2, unknown: 3, old: 1, large: 1, running: 0 }
  expect(scene.transfers.counts).toMatchObject(counts)
})

test.each([
  ['one change, which is sent as it is kept', { condensedBytesMax: 0 }, 2, 'incremental'],
  ['two that are to become one', { condensedBytesMax: 200 }, 3, 'incremental'],
  ['more than is condensed', { condensedBytesMax: 50 }, 3, 'large'],
  ['more than is condensed at once', { condensedAtOnceBytesMax: 50 }, 3, 'large'],
] as const)('%s', (_what, limits, serial, expected) => {
  const scene = new Scene(limits)
  scene.serve(1, many)
  scene.ask(1, 0)
  for (let at = 2; at <= serial; at++) scene.serve(at, [...many, `m${at}`])
  scene.ask(1, 1)
  expect(scene.transfers.counts).toMatchObject({ incremental: 0, large: 0, [expected]: 1 })
})

test('transfers that run bound what is condensed at once', () => {
  const scene = new Scene({ condensedAtOnceBytesMax: 150 })
  scene.serve(1, many)
  for (const client of [1, 2, 3]) scene.ask(client, 0)
  scene.serve(2, [...many, 'b'])
  scene.serve(3, [...many, 'c'])
  const first = scene.begin(1, 1)
  scene.ask(2, 1)
  expect(scene.transfers.counts).toMatchObject({ incremental: 1, large: 1 })
  finish(first)
  scene.ask(3, 1)
  expect(scene.transfers.counts).toMatchObject({ incremental: 2, large: 1 })
})
