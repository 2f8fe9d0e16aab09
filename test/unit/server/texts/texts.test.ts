// TXT records on their way from a control node to nodes that only answer.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { signChannelRecord } from '#bundle/signature/channel.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import type { TextsHandler } from '#zones/dynamic/dynamic-dns.ts'
import { WrittenRecords } from '#zones/dynamic/written-records.ts'
import type { WrittenRrset } from '#zones/dynamic/written-records.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { PulledTexts } from '#server/texts/pulled-texts.ts'
import { textsDirectory } from '#server/texts/texts-bundle.ts'
import { TextsPublisher, textsPauseMs } from '#server/texts/texts-publisher.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { encode, newSigningKey, smallModel } from '#test/support/bundle-models.ts'
import { foldName } from '#dns/name.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'
import { storedRecord, storedTxt } from '#test/support/txt-records.ts'
import type { Txt } from '#test/support/txt-records.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const channel = 'main.texts'
const key = newSigningKey()
const ttlMs = 24 * 3_600_000
const startMs = 1_790_000_000_000

/** The records of a control node, written by hand. */
class Written {
  readonly texts = new WrittenRecords()
  readonly #handlers = new Set<TextsHandler>()
  known = true
  #revision = 0

  readonly isKnown = (): boolean => this.known
  readonly onChange = (handler: TextsHandler): (() => void) => {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  write(...records: readonly Txt[]): void {
    this.writeStored(records.map(storedTxt))
  }

  writeStored(records: readonly StoredRecord[]): void {
    const revision = ++this.#revision
    const change = { ...this.texts.deltaTo(records), revision }
    const names = this.texts.change(change)
    for (const handler of this.#handlers) void handler({ ...change, names })
  }
}

interface World {
  readonly written: Written
  readonly time: FakeTime
  readonly publisher: TextsPublisher
  readonly publications: Publication[]
  readonly paused: (count: number) => Promise<void>
  /** Resolves when there are so many. @returns the last record */
  readonly published: (count: number) => Promise<SignedChannelRecord['record']>
  readonly write: (...records: readonly Txt[]) => Promise<SignedChannelRecord['record']>
}

function startWorld(directory = tempDir('texts'), written = new Written()): World {
  const store = new BundleStore(directory, textsDirectory)
  const time = new FakeTime(startMs)
  const publications: Publication[] = []
  const publisher = new TextsPublisher({
    ...{ feed: written, store, channel, key, recordTtlMs: ttlMs, log: silentLog },
    ...{ clock: time.clock, after: time.after },
    onStored: () => {
      const signedRecord = store.record('active') as SignedChannelRecord
      const bytes = store.bundle(signedRecord.record.digest)
      if (bytes.ok) publications.push({ signedRecord, bundle: bytes.value })
    },
  })
  publisher.start()
  const paused = async (count: number): Promise<void> => {
    await waitUntil(`publication ${count}`, () => publications.length >= count)
    // The pause after it, and the next renewal.
    await waitUntil('the pause', () => time.waiting === 2)
    expect(publications).toHaveLength(count)
  }
  const published = async (count: number): Promise<SignedChannelRecord['record']> => {
    await paused(count)
    return publications.at(-1)!.signedRecord.record
  }
  const write = async (...records: readonly Txt[]): Promise<SignedChannelRecord['record']> => {
    await published(Math.max(publications.length, 1))
    const next = publications.length + 1
    written.write(...records)
    time.pass(textsPauseMs)
    return published(next)
  }
  return { written, time, publisher, publications, paused, published, write }
}

const pulledIn = (directory = tempDir('texts')): PulledTexts =>
  new PulledTexts({
    store: new BundleStore(directory, textsDirectory),
    trusted: [key],
    log: silentLog,
  })

const lines = ({ texts }: { readonly texts: WrittenRecords }): string[] =>
  [...texts.names()].sort().flatMap((name) => {
    const [{ ttlSeconds, values }] = texts.find(name)!.rrsets as [WrittenRrset]
    return values.map((value) => `${name} ${ttlSeconds} ${Buffer.from(value).toString()}`)
  })

const many: readonly Txt[] = Array.from({ length: 150 }, (_, i) => [`n${i}.example.com.`, `${i}`])

describe('the publication of a control node', () => {
  test('has records of all types, of which a node takes those that it knows', async () => {
    const world = startWorld()
    const pulled = pulledIn()
    const name = wireName('Host.example.com.')
    const records = [
      { name: 'h.example.com.', type: 1, rdata: Buffer.of(192, 0, 2, 1) },
      { name: 'h.example.com.', type: 49, rdata: Buffer.of(0, 2, 1, 99) },
      { name: 'c.example.com.', type: 5, rdata: Buffer.from(foldName(name)) },
      {
        name: 's.example.com.',
        type: 33,
        rdata: Buffer.from([0, 1, 0, 2, 0, 3, ...foldName(name)]),
      },
    ].map((record) => storedRecord({ ...record, ttlSeconds: 60 }))
    const unknown = storedRecord({
      ...{ name: 'h.example.com.', type: 65_280, rdata: Buffer.of(1), ttlSeconds: 60 },
    })
    await world.write()
    world.written.writeStored([...records, unknown])
    world.time.pass(textsPauseMs)
    await world.published(3)
    expect(await pulled.activate(world.publications.at(-1)!)).toMatchObject({ ok: true })
    const shown = (all: Iterable<StoredRecord>): string[] =>
      [...all].map((one) => `${one.name} ${one.type} ${one.rdata} ${one.ttlSeconds}`).sort()
    expect(shown(pulled.texts.records())).toEqual(shown(records))
  })

  test.each<[string, readonly (readonly Txt[])[]]>([
    ['nothing', [[]]],
    [
      'two texts of a name',
      [
        [
          ['a.example.', 'x', 30],
          ['a.example.', 'y'],
        ],
      ],
    ],
    [
      'names of many zones',
      [
        [
          ['a.example.', 'x'],
          ['b.test.', 'y'],
          ['example.', 'z'],
        ],
      ],
    ],
    [
      'a text that went',
      [
        [
          ['a.example.', 'x'],
          ['b.example.', 'y'],
        ],
        [['b.example.', 'y']],
      ],
    ],
    ['a text that came back', [[['a.example.', 'x']], [], [['a.example.', 'x']]]],
    [
      'a wildcard and a label that people escape',
      [
        [
          ['*.a.example.', 'x'],
          ['_a\\.b.test.', 'y'],
        ],
      ],
    ],
    ['so many that a thread encodes them', [many, many.slice(1)]],
  ])('%s is what a node that pulls has', async (_, steps) => {
    const world = startWorld()
    const pulled = pulledIn()
    for (const records of steps) {
      await world.write(...records)
      const changed = pulled.texts.revision
      expect(await pulled.activate(world.publications.at(-1)!)).toMatchObject({ ok: true })
      expect(pulled.texts.revision).toBe(changed + 1)
      expect(lines(pulled)).toEqual(lines(world.written))
    }
    await world.publisher.stop()
  })

  test('rises with each change, and not with a renewal', async () => {
    const world = startWorld()
    const first = await world.published(1)
    expect(first).toMatchObject({ channel, serial: 0, seq: startMs / 250, previous: '' })
    const second = await world.write(['a.example.', 'x'])
    expect(second).toMatchObject({ seq: first.seq + 1, serial: 1, previous: first.digest })
    world.time.pass(textsPauseMs)
    await waitUntil('the end of the pause', () => world.time.waiting === 1)
    world.time.pass(ttlMs / 2)
    const renewed = await world.published(3)
    expect(renewed).toEqual({
      ...second,
      issuedAtMs: renewed.issuedAtMs,
      expiresAtMs: renewed.issuedAtMs + ttlMs,
    })
    expect(renewed.issuedAtMs).toBeGreaterThan(second.issuedAtMs)
    await world.publisher.stop()
  })

  test('has a change that comes at any moment around the end of the pause', async () => {
    const world = startWorld()
    for (let moment = 0; moment < 10; moment++) {
      await world.published(moment + 1)
      world.time.pass(textsPauseMs)
      for (let i = 0; i < moment; i++) await Promise.resolve()
      world.written.write(['a.example.', String(moment)])
    }
    await world.published(11)
    await world.publisher.stop()
  })

  test('goes on after a restart where it ended, and says nothing before it knows', async () => {
    const directory = tempDir('texts')
    const before = startWorld(directory)
    const first = await before.published(1)
    await before.publisher.stop()
    const written = new Written()
    written.known = false
    const after = startWorld(directory, written)
    await after.paused(0)
    written.known = true
    written.write(['a.example.', 'x'])
    after.time.pass(textsPauseMs)
    expect(await after.published(1)).toMatchObject({ seq: first.seq + 1, previous: first.digest })
    await after.publisher.stop()
  })
})

describe('a node that pulls', () => {
  test('has them again after a restart, also when the newest file is damaged', async () => {
    const world = startWorld()
    const directory = tempDir('texts')
    const pulled = pulledIn(directory)
    await world.write(['a.example.', 'x'])
    await pulled.activate(world.publications[1]!)
    const newest = await world.write(['a.example.', 'y'])
    await pulled.activate(world.publications[2]!)
    const again = pulledIn(directory)
    await again.start()
    expect([lines(again), again.texts.revision]).toEqual([['a.example. 60 \u0001y'], 2])
    writeFileSync(join(directory, textsDirectory, 'bundles', `${newest.digest}.bundle`), 'x')
    const damaged = pulledIn(directory)
    await damaged.start()
    expect(lines(damaged)).toEqual(['a.example. 60 \u0001x'])
    // The older one that it serves is no way back.
    expect(await damaged.activate(world.publications[1]!)).toMatchObject({
      error: { code: 'rollback' },
    })
    expect(await damaged.activate(world.publications[2]!)).toMatchObject({ ok: true })
    await world.publisher.stop()
  })

  test('refuses what is of others or of another kind, and keeps what it has', async () => {
    const world = startWorld()
    const { seq } = await world.write(['a.example.', 'x'])
    const good = world.publications[1]!
    const pulled = pulledIn()
    await pulled.activate(good)
    const { bytes, digest } = encode(smallModel)
    const other = new Uint8Array(new SharedArrayBuffer(bytes.length))
    other.set(bytes)
    signBundle(other, key)
    const { record } = good.signedRecord
    const named = (parts: object, by = key) =>
      signChannelRecord({ ...record, seq: seq + 1, ...parts }, by)
    const cut = good.bundle.slice(0, -100)
    const rows: readonly [string, Publication][] = [
      ['bad-bundle', { signedRecord: named({ digest }), bundle: other }],
      ['digest-mismatch', { signedRecord: named({ digest }), bundle: good.bundle }],
      ['bad-bundle', { signedRecord: named({}), bundle: cut }],
      ['unknown-key', { signedRecord: named({}, newSigningKey()), bundle: good.bundle }],
      ['rollback', { signedRecord: named({ seq: seq - 1 }), bundle: good.bundle }],
      ['equivocation', { signedRecord: named({ seq, digest }), bundle: other }],
      ['other-channel', { signedRecord: named({ channel: 'main' }), bundle: good.bundle }],
    ]
    for (const [code, publication] of rows) {
      expect([code, await pulled.activate(publication)]).toMatchObject([code, { error: { code } }])
    }
    expect([lines(pulled), pulled.record]).toEqual([['a.example. 60 \u0001x'], record])
    await world.publisher.stop()
  })
})
