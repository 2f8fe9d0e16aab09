// Tests a pulling node with sources that misbehave, each a real HTTP server on loopback.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import type { ChannelRecord, SigningKey } from '#bundle/signature/channel.ts'
import { readerOf } from '#test/support/octet-reader.ts'
import { makeDelta } from '#fleet/delta.ts'
import { Puller } from '#fleet/puller.ts'
import type { PullLimits, PullerParts } from '#fleet/puller.ts'
import { systemClock } from '#lib/clock.ts'
import { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { acceptableRecord, servableBundle } from '#server/node/verify-bundle.ts'
import { silentLog } from '../../support/api-ports.ts'
import { newSigningKey } from '../../support/bundle-models.ts'
import {
  openSource,
  pathOf,
  recordPath,
  signedBundle,
  signedRecord,
} from '../../support/bundle-source.ts'
import type { Behaviour, BundleSource } from '../../support/bundle-source.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '../../support/wait-until.ts'

const opened: { close: () => Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

const key = newSigningKey()
const bundle = signedBundle(key, 1)
const other = signedBundle(key, 2)

async function source(): Promise<BundleSource> {
  const made = await openSource()
  opened.push(made)
  return made
}

function publishOn(
  { files }: BundleSource,
  made = bundle,
  parts: Partial<ChannelRecord> = {},
  by: SigningKey = key,
): void {
  files.set(recordPath, JSON.stringify(signedRecord(by, { digest: made.digest, ...parts })))
  files.set(pathOf(made.digest), made.bytes)
}

/** A node without threads: it checks as a node does, and remembers what serves. */
function follow(urls: readonly string[], parts: Partial<PullerParts> = {}) {
  const served: ChannelRecord[] = []
  const kept = new Map<string, Uint8Array>()
  const acceptance = { trusted: [key], store: null }
  const limits: Partial<PullLimits> = { waitSeconds: 1, headPatienceMs: 2_000 }
  const puller = new Puller({
    urls,
    channel: 'main',
    token: null,
    pollMs: 5,
    judge: (signed) => acceptableRecord(signed, acceptance, served.at(-1)),
    isServing: ({ seq, expiresAtMs }) =>
      served.at(-1)?.seq === seq && served.at(-1)?.expiresAtMs === expiresAtMs,
    stored: (digest) => kept.get(digest),
    activate: async ({ signedRecord: signed, bundle: bytes }) => {
      const checked = servableBundle(bytes, signed.record, [key])
      if (!checked.ok) return err(checked.error)
      kept.set(signed.record.digest, bytes)
      served.push(signed.record)
      return ok('activated')
    },
    clock: systemClock,
    after: systemAfter,
    random: new Random(1),
    log: silentLog,
    limits,
    ...parts,
  })
  puller.start()
  opened.push({ close: () => puller.stop() })
  const seqs = (): number[] => served.map(({ seq }) => seq)
  const serves = (seq: number) => waitUntil(`seq ${seq}`, () => seqs().includes(seq))
  const counts = (code: string) =>
    waitUntil(`a pull that ends with ${code}`, () => (puller.status().pulls[code] ?? 0) > 0)
  return { puller, served, seqs, serves, counts, kept }
}

describe('a node that has the bundle before', () => {
  const deltaTo = `/bundles/deltas/${other.digest}/${bundle.digest}`
  /** Keeps the served bundle in files, as a node does. */
  function followWithDisk(url: string) {
    const directory = tempDir('puller')
    const storedPath = (digest: string): string => join(directory, digest)
    const node = follow([url], {
      limits: { waitSeconds: 1, headPatienceMs: 2_000, bundleBytesMax: 1_000_000 },
      storedPath,
      servingDigest: () => node.served.at(-1)?.digest ?? '',
    })
    writeFileSync(storedPath(bundle.digest), bundle.bytes)
    return node
  }

  test('takes a delta, and not the whole', async () => {
    const one = await source()
    publishOn(one)
    const node = followWithDisk(one.url)
    await node.serves(1)
    const delta = await makeDelta(readerOf(bundle.bytes), readerOf(other.bytes))
    one.files.set(deltaTo, delta!)
    publishOn(one, other, { seq: 2 })
    await node.serves(2)
    expect(one.asked).not.toContain(pathOf(other.digest))
    expect(node.puller.status().deltas).toEqual({ used: 1, useless: 0 })
  })

  const wrong = makeDelta(readerOf(bundle.bytes), readerOf(signedBundle(key, 3).bytes))
  test.each<[string, () => Promise<Uint8Array | string | Behaviour | undefined>, number]>([
    ['is not there', async () => undefined, 0],
    ['is a page', async () => '<!doctype html>', 1],
    ['makes another bundle', async () => await wrong, 1],
    ['is endless', async () => endless, 0],
    ['breaks off', async () => cut, 0],
  ])('has the whole where the delta %s', async (_how, make, ofNoUse) => {
    const one = await source()
    publishOn(one)
    const node = followWithDisk(one.url)
    await node.serves(1)
    const delta = await make()
    if (delta !== undefined) one.files.set(deltaTo, delta)
    publishOn(one, other, { seq: 2 })
    await node.serves(2)
    expect(one.asked).toContain(pathOf(other.digest))
    expect(node.puller.status().deltas).toEqual({ used: 0, useless: ofNoUse })
  })
})

describe('a node that pulls', () => {
  test('serves what a plain file server has, and what it has next', async () => {
    const one = await source()
    publishOn(one)
    const node = follow([one.url])
    await node.serves(1)
    publishOn(one, other, { seq: 2 })
    await node.serves(2)
    expect(node.seqs()).toEqual([1, 2])
  })

  test('takes a compressed bundle', async () => {
    const one = await source()
    publishOn(one)
    one.files.set(pathOf(bundle.digest), (_request, response) => {
      response.setHeader('content-encoding', 'zstd')
      response.end(zstdCompressSync(bundle.bytes))
    })
    await follow([one.url]).serves(1)
  })

  test('sends its token, and the tag of the record that it has with a time to wait', async () => {
    const one = await source()
    publishOn(one)
    const seen: string[] = []
    const text = one.files.get(recordPath) as string
    one.files.set(recordPath, ({ headers, url = '' }, response) => {
      const { authorization, 'if-none-match': tag } = headers
      seen.push([authorization, tag, url.split('?')[1]].join(' '))
      response.setHeader('etag', '"a"')
      response.statusCode = tag === '"a"' ? 304 : 200
      response.end(tag === '"a"' ? '' : text)
    })
    const node = follow([one.url], { token: 'secret' })
    await node.counts('unchanged')
    expect(seen.slice(0, 2)).toEqual(['Bearer secret  ', 'Bearer secret "a" wait=1'])
  })

  test('does not fetch again what it has, when an old bundle comes back', async () => {
    const one = await source()
    publishOn(one)
    const node = follow([one.url])
    await node.serves(1)
    publishOn(one, other, { seq: 2 })
    await node.serves(2)
    publishOn(one, bundle, { seq: 3 })
    await node.serves(3)
    expect(one.asked.filter((path) => path === pathOf(bundle.digest))).toHaveLength(1)
  })

  test('fetches a bundle whose copy is damaged', async () => {
    const one = await source()
    publishOn(one)
    const damaged = new Uint8Array(new SharedArrayBuffer(bundle.bytes.length)).fill(7)
    const node = follow([one.url], { stored: () => damaged })
    await node.serves(1)
    expect(one.asked).toContain(pathOf(bundle.digest))
  })

  test('goes to the next source when one is away', async () => {
    const [one, two] = [await source(), await source()]
    await one.close()
    publishOn(two)
    const node = follow([one.url, two.url])
    await node.serves(1)
    const [away, fine] = node.puller.status().sources
    expect([away?.fault?.code, fine?.fault]).toEqual(['unreachable', null])
  })
})

const drip: Behaviour = (_request, response) => {
  const timer = setInterval(() => response.write('x'), 5)
  response.on('close', () => clearInterval(timer))
}
const endless: Behaviour = (_request, response) => {
  const chunk = Buffer.alloc(65_536, 1)
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
}
const cut: Behaviour = (_request, response) => {
  response.setHeader('content-length', bundle.bytes.length)
  response.write(bundle.bytes.subarray(0, 100), () => response.destroy())
}
const bomb: Behaviour = (_request, response) => {
  response.setHeader('content-encoding', 'zstd')
  response.end(zstdCompressSync(Buffer.alloc(3_000_000)))
}
const announced: Behaviour = (_request, response) => {
  response.setHeader('content-length', 10_000_000_000)
  response.flushHeaders()
}
const encoded =
  (encoding: string): Behaviour =>
  (_request, response) => {
    response.setHeader('content-encoding', encoding)
    response.end('this is no such thing')
  }
const moved: Behaviour = (_request, response) => {
  response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()
}
const silent: Behaviour = () => undefined
const wrongKey = newSigningKey()
const swapped = new Uint8Array(bundle.bytes)
swapped.set(other.bytes.subarray(-200), bundle.bytes.length - 200)

/** As a bundle of files or a database of another product begins. */
const database = Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(10_000)])

/** Bundles of a bad source, once the node serves seq 5 of a good one. */
const rows: readonly (readonly [string, string, (bad: BundleSource) => void])[] = [
  ['a record that is no JSON', 'malformed', (bad) => bad.files.set(recordPath, '{"record":')],
  ['a record of nothing', 'malformed', (bad) => bad.files.set(recordPath, 'null')],
  [
    'a record of another product',
    'malformed',
    (bad) => bad.files.set(recordPath, '{"schemaVersion":2,"layers":[{"digest":"sha256:00"}]}'),
  ],
  [
    'the channel of another fleet, by a key that is not trusted',
    'unknown-key',
    (bad) => publishOn(bad, other, { seq: 6 }, wrongKey),
  ],
  [
    'a record that was changed after it was signed',
    'bad-signature',
    (bad) => {
      const signed = signedRecord(key, { digest: other.digest, seq: 6 })
      const forged = { ...signed, record: { ...signed.record, seq: 7 } }
      bad.files.set(recordPath, JSON.stringify(forged))
    },
  ],
  ['a record of an old seq', 'rollback', (bad) => publishOn(bad, other, { seq: 4 })],
  ['the same seq with another bundle', 'equivocation', (bad) => publishOn(bad, bundle, { seq: 5 })],
  [
    'a record of another channel',
    'other-channel',
    (bad) => publishOn(bad, other, { seq: 6, channel: 'test' }),
  ],
  [
    'a record that has expired',
    'expired',
    (bad) => publishOn(bad, other, { seq: 6, expiresAtMs: 1_000 }),
  ],
  ['an endless record', 'too-large', (bad) => bad.files.set(recordPath, endless)],
  ['a redirection', 'bad-status', (bad) => bad.files.set(recordPath, moved)],
  ['no answer at all', 'too-slow', (bad) => bad.files.set(recordPath, silent)],
  ['a record by drops', 'too-slow', (bad) => bad.files.set(recordPath, drip)],
  ...(
    [
      ['another bundle than the record names', 'digest-mismatch', other.bytes],
      ['a bundle without its end', 'bad-bundle', bundle.bytes.slice(0, -300)],
      ['a bundle with a part of another one', 'bad-bundle', swapped],
      ['an empty bundle', 'bad-bundle', new Uint8Array(0)],
      ['a bundle that is no bundle', 'bad-bundle', 'x'.repeat(10_000)],
      ['a bundle of another product', 'bad-bundle', database],
      ['an endless bundle', 'too-large', endless],
      ['a bundle that announces too much', 'too-large', announced],
      ['a little that unpacks to much', 'too-large', bomb],
      ['a bundle by drops', 'too-slow', drip],
      ['a connection that breaks', 'cut-short', cut],
      ['a content encoding that nobody asked for', 'bad-encoding', encoded('br')],
      ['octets that are not compressed as they say', 'bad-encoding', encoded('zstd')],
      ['a refusal in the place of the bundle', 'bad-status', moved],
    ] as const
  ).map(
    ([name, code, file]) =>
      [
        name,
        code,
        (bad: BundleSource) => {
          publishOn(bad, bundle, { seq: 6 })
          bad.files.set(pathOf(bundle.digest), file)
        },
      ] as const,
  ),
]

describe('refused, named, counted, and the last good bundle serves:', () => {
  const limits = {
    waitSeconds: 0,
    headPatienceMs: 300,
    rest: { firstMs: 20, mostMs: 100 },
    bundleBytesMax: 1_000_000,
    rate: { windowMs: 200, bytesMin: 100_000 },
  }
  test.each(rows)('%s', async (_name, code, misbehave) => {
    const bad = await source()
    publishOn(bad, other, { seq: 5 })
    const node = follow([bad.url], { limits })
    await node.serves(5)
    node.kept.clear()
    misbehave(bad)
    await node.counts(code)
    expect(node.seqs()).toEqual([5])
    expect(node.puller.status().sources[0]?.fault?.code).toBe(code)
    // It recovers as soon as the source does.
    publishOn(bad, bundle, { seq: 8 })
    await node.serves(8)
    expect(node.puller.status().sources[0]?.fault).toBe(null)
  })
})

describe('a record that says the size of its bundle:', () => {
  const limits = { waitSeconds: 0, headPatienceMs: 2_000, rest: { firstMs: 5, mostMs: 10 } }
  const { bytes } = bundle
  const sized = { bytes: bytes.length }

  test('the bundle is taken, plain and compressed', async () => {
    const one = await source()
    publishOn(one, bundle, sized)
    const node = follow([one.url], { limits })
    await node.serves(1)
    publishOn(one, other, { seq: 2, bytes: other.bytes.length })
    one.files.set(pathOf(other.digest), (_request, response) => {
      response.setHeader('content-encoding', 'zstd')
      response.end(zstdCompressSync(other.bytes))
    })
    await node.serves(2)
  })

  const dripping: Behaviour = (_request, response) => {
    const timer = setInterval(() => response.write(bytes.subarray(0, 1)), 1)
    response.on('close', () => clearInterval(timer))
  }
  const quick = { ...limits, rate: { windowMs: 50, bytesMin: 1 } }
  test.each<[what: string, code: string, file: Uint8Array | Behaviour, limits?: object]>([
    ['an octet more', 'too-large', Buffer.concat([bytes, Buffer.alloc(1)])],
    ['an octet less', 'bad-bundle', bytes.slice(0, -1)],
    ['nothing', 'bad-bundle', new Uint8Array(0)],
    ['fast enough, and never whole', 'too-slow', dripping, { ...quick, bodyMs: 300 }],
  ])('%s is refused', async (_what, code, file, given = limits) => {
    const one = await source()
    publishOn(one, bundle, sized)
    one.files.set(pathOf(bundle.digest), file)
    const node = follow([one.url], { limits: given })
    await node.counts(code)
    publishOn(one, bundle, { ...sized, seq: 2 })
    await node.serves(2)
  })

  test('an impossible size is not asked for', async () => {
    const one = await source()
    publishOn(one, bundle, { bytes: 2_000_000_001 })
    const node = follow([one.url], { limits })
    await node.counts('too-large')
    expect(one.asked).not.toContain(pathOf(bundle.digest))
    expect(node.puller.pulled().refusals).toMatchObject([{ code: 'too-large' }])
  })
})

test('a clock before the build date takes what is given: order comes from seq alone', async () => {
  const one = await source()
  publishOn(one, bundle, { seq: 5 })
  const node = follow([one.url], { clock: { ...systemClock, nowMs: () => 0 } })
  await node.serves(5)
  publishOn(one, other, { seq: 4 })
  await node.counts('rollback')
  publishOn(one, other, { seq: 6 })
  await node.serves(6)
  expect(node.seqs()).toEqual([5, 6])
})

test('a control node that is behind is borne for a while, then it goes back', async () => {
  const one = await source()
  publishOn(one, other, { seq: 5 })
  let aheadMs = 0
  const said: string[] = []
  const node = follow([one.url], {
    limits: { waitSeconds: 0, rest: { firstMs: 5, mostMs: 10 }, behindMsMax: 3_600_000 },
    clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs },
    log: { ...silentLog, warn: (_fields: object, text: string) => void said.push(text) },
  })
  await node.serves(5)
  publishOn(one, bundle, { seq: 4 })
  await node.counts('rollback')
  const fine = { isRefusing: false, refusals: [] }
  expect([node.puller.pulled(), said]).toMatchObject([fine, []])
  expect(node.puller.status().sources[0]?.fault?.code).toBe('rollback')
  aheadMs = 7_200_000
  await waitUntil('the refusal', () => node.puller.pulled().isRefusing)
  expect(node.puller.pulled().refusals).toMatchObject([{ code: 'rollback', digest: bundle.digest }])
  await waitUntil('the line of the log', () => said.length > 0)
  expect(said[0]).toContain('a bundle source is no use: the channel record is older')
  publishOn(one, bundle, { seq: 6 })
  await node.serves(6)
  expect(node.puller.pulled().isRefusing).toBe(false)
})

test('a source that was behind, and then away for long, is accepted again', async () => {
  const one = await source()
  publishOn(one, other, { seq: 5 })
  let aheadMs = 0
  const node = follow([one.url], {
    limits: { waitSeconds: 0, rest: { firstMs: 5, mostMs: 10 }, behindMsMax: 3_600_000 },
    clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs },
  })
  await node.serves(5)
  publishOn(one, bundle, { seq: 4 })
  await node.counts('rollback')
  one.files.set(recordPath, 'no JSON')
  const isOther = () => node.puller.status().sources[0]?.fault?.code !== 'rollback'
  await waitUntil('the other fault', isOther)
  aheadMs = 4 * 3_600_000
  const { rollback } = node.puller.status().pulls
  publishOn(one, bundle, { seq: 4 })
  await waitUntil('more of it', () => node.puller.status().pulls['rollback']! > rollback! + 2)
  expect(node.puller.pulled().refusals.filter(({ code }) => code === 'rollback')).toEqual([])
})

test('a stop does not wait for a source that says nothing', async () => {
  const one = await source()
  one.files.set(recordPath, silent)
  const { puller } = follow([one.url])
  await waitUntil('the question', () => one.asked.length > 0)
  await puller.stop()
  expect(puller.status().pulls).toEqual({})
})

test('a key that is believed from now on counts at once, while its source rests', async () => {
  const one = await source()
  const restored = newSigningKey()
  publishOn(one, signedBundle(restored, 1), {}, restored)
  const trusted = [key]
  const served: ChannelRecord[] = []
  const node = follow([one.url], {
    limits: { waitSeconds: 0, rest: { firstMs: 3_600_000, mostMs: 3_600_000 } },
    judge: (signed) => acceptableRecord(signed, { trusted, store: null }, undefined),
    activate: async ({ signedRecord: { record } }) => {
      served.push(record)
      return ok('activated')
    },
  })
  await node.counts('unknown-key')
  trusted.push(restored)
  node.puller.askAgain()
  await waitUntil('its record', () => served.length > 0)
})
