// A node that asks for keys, and what a control node gives to which node.
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { KeysFault } from '#ports/bundles.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { recordOfKey } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { KeyPuller, zoneKeysKind } from '#fleet/keys/key-puller.ts'
import { createNodeInventory } from '#fleet/node-inventory.ts'
import { isSignedBy, keyOfToken, newNodeToken } from '#fleet/nodes/credentials.ts'
import { readNodeList, signedReport } from '#fleet/nodes/credentials.ts'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { givingKeys } from '#node/signing/give-keys.ts'
import type { KeySet } from '#server/signing/key-set.ts'
import { PulledKeys } from '#server/signing/pulled-keys.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { reportOf } from '#test/support/node-reports.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const signer = newSigningKey()
const { token, listed } = newNodeToken()
const nodeKey = keyOfToken(token)!
const record = recordOfKey('example.org.', generateZoneKey(signingAlgorithm(13)!), 'csk', {})
const setOf = (revision: number): Result<KeySet, string> => ok({ revision, records: [record] })

let server: Server
let set: Result<KeySet, string> = setOf(5)
let hasVault = true
let isListing = true
/** The last answers, of which some are given again. */
let sent: Uint8Array | undefined
let replayed: Uint8Array | undefined
const codes: (string | number)[] = []

beforeEach(async () => {
  set = setOf(5)
  hasVault = isListing = true
  sent = replayed = undefined
  codes.splice(0)
  const list = readNodeList(`far-1 ${listed}\n`)
  if (!list.ok) throw new Error(list.error)
  const judge = {
    signer: (told: unknown, report: NodeReport) => {
      const node = list.value.get(report.name)
      return node && isSignedBy(node, told, report, Date.now()) ? node : undefined
    },
    isListed: (name: string) => list.value.has(name),
    countsUnlisted: () => !isListing,
  }
  const inventory = createNodeInventory(systemClock, undefined, judge)
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const vault = hasVault ? { set: () => set } : null
      const give = givingKeys({ vault, inventory, key: signer })
      const asked = JSON.parse(Buffer.concat(chunks).toString()) as Parameters<typeof give>[0]
      const given = give(asked)
      codes.push(given.ok ? (given.value === null ? 204 : 200) : given.error.code)
      if (!given.ok) {
        const text = JSON.stringify({ error: given.error.message })
        return void response.writeHead(statusOf(given.error)).end(text)
      }
      if (given.value === null) return void response.writeHead(204).end()
      sent = given.value
      response.writeHead(200).end(replayed ?? given.value)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => void server.close())

const statusOf = ({ code }: KeysFault): number =>
  ({ refused: 400, none: 404, stranger: 403, away: 503 })[code]

function puller(isSigned = true) {
  const copy = { read: () => undefined, isThere: () => false, write: () => undefined }
  const keys = new PulledKeys(copy)
  const time = new FakeTime(0)
  let nowMs = 0
  const said: string[] = []
  const note = (fields: unknown, text: string): void =>
    void said.push(`${text} ${JSON.stringify(fields)}`)
  const { port } = server.address() as AddressInfo
  const asking = new KeyPuller({
    asks: zoneKeysKind,
    urls: [`http://127.0.0.1:${port}`],
    token: 't'.repeat(32),
    report: () => reportOf('far-1', { sentAtMs: Date.now() }),
    sealed: (report) => signedReport(report, isSigned ? nodeKey : null),
    trusted: () => [signer],
    revision: () => keys.revision,
    take: ({ revision, content }) => keys.take(revision, Buffer.from(content).toString()),
    isAnyMissing: () => false,
    after: time.after,
    monotonicMs: () => nowMs,
    log: { info: () => undefined, warn: note, error: note },
  })
  asking.start()
  const again = async (): Promise<void> => {
    const before = codes.length
    await waitUntil('the next look is due', () => time.waiting > 0)
    nowMs += 10_000
    time.pass(10_000)
    await waitUntil('the next answer', () => codes.length > before)
    await waitUntil('it was taken', () => time.waiting > 0)
  }
  const later = (ms: number): void => void (nowMs += ms)
  return {
    keys,
    said,
    again,
    later,
    stale: () => asking.stale(),
    refusal: () => asking.refusal,
    stop: () => asking.stop(),
  }
}

test('a node has the keys, and what is new, of a control node that knows it', async () => {
  expect(zoneKeysKind.path).toBe('bundles/keys')
  const node = puller()
  await waitUntil('the keys', () => node.keys.revision === 5)
  expect(node.keys.keys().get('example.org.')).toMatchObject([{ tag: record.tag }])
  await node.again()
  set = ok({ revision: 6, records: [] })
  await node.again()
  expect(node.keys.keys().size).toBe(0)
  // A control node whose database is behind.
  set = setOf(5)
  await node.again()
  expect([node.keys.revision, codes]).toEqual([6, [200, 204, 200, 204]])
  expect(node.said).toEqual([])
  await node.stop()
})

test('an envelope that was recorded is refused, and the keys stay', async () => {
  const node = puller()
  await waitUntil('the keys', () => node.keys.revision === 5)
  replayed = sent
  set = setOf(6)
  await node.again()
  expect(node.keys.revision).toBe(5)
  expect(node.said).toEqual([expect.stringContaining('for another node or question')])
  await node.stop()
})

const unlisted = (): void => undefined
const withoutVault = (): void => {
  hasVault = false
}
const unreadable = (): void => {
  set = err('the keys were stored under another GSLB_SECRET_KEY')
}

test.each([
  ['a node that has not signed gets none', 'stranger', unlisted, false],
  ['nobody gets keys of files', 'none', withoutVault, true],
  ['a control node whose keys cannot be read takes none away', 'away', unreadable, true],
] as const)('%s', async (_what, code, arrange, isSigned) => {
  arrange()
  const node = puller(isSigned)
  await waitUntil('an answer', () => codes.length > 0)
  expect(codes).toEqual([code])
  await node.again()
  expect(node.keys.revision).toBe(0)
  // Said once; an older control node, or a web server, is no fault.
  expect(node.said).toHaveLength(code === 'none' ? 0 : 1)
  const why = { none: /^$/, stranger: /answered 403: .*gslbd node add/, away: /answered 503/ }[code]
  expect(node.refusal()).toMatch(why)
  await node.stop()
})

test.each([
  ['one that gives none any more', /127\.0\.0\.1:\d+: .*404/, withoutVault],
  ['one whose keys cannot be read', /127\.0\.0\.1:\d+: .*503/, unreadable],
] as const)(
  'a node whose keys came of %s says so after ten minutes',
  async (_what, why, arrange) => {
    const node = puller()
    await waitUntil('the keys', () => node.keys.revision === 5)
    arrange()
    await node.again()
    expect([node.stale(), node.said.length]).toEqual([null, 1])
    node.later(600_000)
    expect(node.stale()).toMatch(/^No control node has given keys of zones for 10 minutes: /)
    expect(node.stale()).toMatch(why)
    hasVault = true
    set = setOf(5)
    await node.again()
    expect([node.stale(), node.keys.revision]).toEqual([null, 5])
    await node.stop()
  },
)

test('a node that never had keys of control nodes does not miss them', async () => {
  hasVault = false
  const node = puller()
  await waitUntil('an answer', () => codes.length > 0)
  node.later(600_000)
  await node.again()
  expect([node.stale(), node.said]).toEqual([null, []])
  await node.stop()
})

test('where no list is kept, each node with the token gets them', async () => {
  isListing = false
  const node = puller(false)
  await waitUntil('the keys', () => node.keys.revision === 5)
  await node.stop()
})
