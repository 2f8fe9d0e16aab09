import { mkdirSync, readFileSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { err } from '#lib/result.ts'
import { seal } from '#lib/secret-box.ts'
import { DynamicDns, copyDelayMs } from '#zones/dynamic/dynamic-dns.ts'
import type { WrittenRrset } from '#zones/dynamic/written-records.ts'
import { createLocalCopy } from '#zones/dynamic/local-copy.ts'
import type { DynamicDnsStore, StoredTsigKey, RecordChange } from '#state/ports/dynamic-dns.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { codeOf, valueOf } from '#test/support/store-values.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const secretKey = Buffer.alloc(32, 7)
const secret = Buffer.from('0123456789abcdefghijklmnopqrstuv')
const state = useState(persistentAdapters[0]![1])

let directory: string
let time: FakeTime
let lines: string[]
beforeEach(() => {
  directory = makeTempDir('dynamic-dns')
  time = new FakeTime(1_000)
  lines = []
})
afterEach(() => removeTempDir(directory))

const away: DynamicDnsStore = new Proxy({} as DynamicDnsStore, {
  get: () => async () => err({ code: 'store-away', message: 'The database is away.' }),
})

/** A node; nodes that share the database differ in the name of the copy. */
async function node(
  copy = 'copy',
  {
    store = state().dynamicDns,
    key = secretKey,
  }: { readonly store?: DynamicDnsStore; readonly key?: Uint8Array | null } = {},
): Promise<DynamicDns> {
  const line = (fields: object, message: string): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { info: line, warn: line, error: line }
  const made = new DynamicDns({
    ...{ store, secretKey: key, now: time.clock.nowMs, after: time.after, log },
    copy: createLocalCopy(join(directory, copy), key, log),
  })
  await made.start()
  return made
}

const keyOf = (id: string, parts: Partial<StoredTsigKey> = {}): StoredTsigKey => ({
  ...{ id, tenantId: 'acme', name: `${id}.example.`, algorithm: 'hmac-sha256.', scope: null },
  ...{ secretCiphertext: seal(secretKey, secret.toString('base64')), createdAtMs: 1 },
  ...parts,
})
const rdata = (text: string): Buffer => Buffer.from(`${String.fromCharCode(text.length)}${text}`)
const add = (text: string, name = 'a.example.', ttlSeconds = 60): RecordChange => ({
  ...{ verb: 'add', name, type: 16, rdata: rdata(text).toString('base64'), ttlSeconds },
})

const remove = (text: string, name = 'a.example.'): RecordChange => ({
  ...{ verb: 'delete', name, type: 16, rdata: rdata(text).toString('base64') },
})

/** `name ttl values`, as the snapshot has them. */
function shown(of: DynamicDns): string[] {
  return of.snapshot().records.map(({ name, rrsets }) => {
    const [{ ttlSeconds, values }] = rrsets as [WrittenRrset]
    const texts = values.map((value) => Buffer.from(value).toString('latin1', 1))
    return `${Buffer.from(name).toString('latin1').slice(1, 2)} ${ttlSeconds} ${texts.join(',')}`
  })
}

describe('a key', () => {
  test('is found by its name in wire form, with its secret, as soon as it is made', async () => {
    const here = await node()
    await valueOf(here.createKey(keyOf('k', { scope: 'www.example.' })))
    expect(here.find(wireName('k.example.'))).toMatchObject({
      ...{ id: 'k', tenantId: 'acme', secret, scope: wireName('www.example.') },
      algorithm: { name: 'hmac-sha256.' },
    })
    expect(here.find(wireName('x.example.'))).toBeUndefined()
  })

  test('is gone when its deletion resolves, and an update under way fails', async () => {
    const here = await node()
    await valueOf(here.createKey(keyOf('k')))
    const deleting = here.deleteKey({ tenantId: 'acme' }, 'k')
    const updating = codeOf(here.apply('k', [add('late')]))
    await valueOf(deleting)
    expect(here.find(wireName('k.example.'))).toBeUndefined()
    expect(await updating).toBe('key-gone')
  })

  test.each([
    ['without GSLB_SECRET_KEY', null, 'is not set'],
    ['with another GSLB_SECRET_KEY', Buffer.alloc(32, 8), 'of another GSLB_SECRET_KEY'],
  ])('is of no use to a node %s, which says so', async (_name, key, says) => {
    const maker = await node('maker')
    await valueOf(maker.createKey(keyOf('k')))
    const here = await node('here', { key })
    expect(await here.refresh()).toBe(true)
    expect(here.find(wireName('k.example.'))).toBeUndefined()
    expect(lines.join()).toContain(says)
    expect(lines.join()).not.toContain(secret.toString('base64'))
  })
})

test('the first look at a database leaves a copy, also of an empty one', async () => {
  const here = await node()
  expect(await here.refresh()).toBe(true)
  time.pass(copyDelayMs)
  // A mark of a node that had a database, by which `gslbd doctor` goes.
  expect(statSync(join(directory, 'copy')).size).toBeGreaterThan(0)
})

describe('records', () => {
  test('are rrsets with one TTL, in canonical order, when an update resolves', async () => {
    const here = await node()
    const snapshots: number[] = []
    await valueOf(here.createKey(keyOf('k')))
    here.onChange(({ revision }) => void snapshots.push(revision))
    const changes = [add('z', 'b.example.'), add('y'), add('x', 'a.example.', 30)]
    await valueOf(here.apply('k', changes))
    expect(shown(here)).toEqual(['a 30 x,y', 'b 60 z'])
    await valueOf(here.apply('k', [add('x')]))
    expect([here.snapshot().revision, snapshots]).toEqual([1, [1]])
  })

  test('are told to everybody before the update resolves', async () => {
    const here = await node()
    await valueOf(here.createKey(keyOf('k')))
    const order: string[] = []
    here.onChange(async () => {
      await Promise.resolve()
      order.push('taken')
    })
    await valueOf(here.apply('k', [add('x')]))
    order.push('resolved')
    expect(order).toEqual(['taken', 'resolved'])
  })

  test('of another node come with the next look, and both nodes have the same', async () => {
    const [here, there] = [await node('here'), await node('there')]
    await valueOf(here.createKey(keyOf('k')))
    await valueOf(here.apply('k', [add('x')]))
    expect(shown(there)).toEqual([])
    expect(await there.refresh()).toBe(true)
    expect(there.snapshot()).toEqual(here.snapshot())
    expect(there.find(wireName('k.example.'))?.id).toBe('k')
    await valueOf(there.deleteKey('every-tenant', 'k'))
    await here.refresh()
    expect(here.find(wireName('k.example.'))).toBeUndefined()
  })

  test('written by two nodes at once are all there on both', async () => {
    const nodes = [await node('here'), await node('there')]
    await valueOf(nodes[0]!.createKey(keyOf('k')))
    const updates = Array.from({ length: 20 }, (_, i) => nodes[i % 2]!.apply('k', [add(`t${i}`)]))
    for (const update of updates) await valueOf(update)
    for (const one of nodes) await one.refresh()
    expect(nodes[0]!.snapshot()).toEqual(nodes[1]!.snapshot())
    expect(nodes[0]!.snapshot().revision).toBe(20)
    expect(nodes[0]!.snapshot().records[0]?.rrsets[0]?.values).toHaveLength(20)
  })

  test('deleted by the API are gone at once', async () => {
    const here = await node()
    const record = { ...{ id: 'r', tenantId: 'acme', name: 'a.example.' }, type: 16, rdata: 'AXg=' }
    await valueOf(here.createRecord({ ...record, ttlSeconds: 60, createdAtMs: 1, writtenBy: '' }))
    expect(shown(here)).toEqual(['a 60 x'])
    await valueOf(here.deleteRecord('every-tenant', 'r'))
    expect([shown(here), here.snapshot().revision]).toEqual([[], 2])
  })
})

describe('the copy', () => {
  test('has each change that was answered, also where the process is killed at once', async () => {
    const here = await node()
    await valueOf(here.createKey(keyOf('k')))
    await valueOf(here.apply('k', [add('first')]))
    time.pass(copyDelayMs)
    await valueOf(here.apply('k', [add('second'), add('other', 'b.example.')]))
    const again = await node('copy', { store: away })
    expect(shown(again)).toEqual(shown(here))
    expect(again.snapshot().revision).toBe(here.snapshot().revision)
  })

  test('has what the node answered while another one wrote, too', async () => {
    const [here, there] = [await node(), await node('there')]
    await valueOf(here.createKey(keyOf('k')))
    await valueOf(here.apply('k', [add('1')]))
    time.pass(copyDelayMs)
    await valueOf(there.apply('k', [add('2')]))
    await valueOf(here.apply('k', [add('3')]))
    await valueOf(here.apply('k', [add('4')]))
    await valueOf(there.apply('k', [add('5')]))
    await valueOf(here.apply('k', [remove('1'), add('6')]))
    expect(shown(await node('copy', { store: away }))).toEqual(['a 60 2,3,4,5,6'])
    const again = await node()
    expect(await again.refresh()).toBe(true)
    expect(shown(again)).toEqual(['a 60 2,3,4,5,6'])
    expect(again.snapshot()).toEqual(here.snapshot())
  })

  test('has a change of this node where the others cannot be read any more', async () => {
    const [here, there] = [
      await node('copy', { store: { ...state().dynamicDns, load: away.load } }),
      await node('there'),
    ]
    await valueOf(there.createKey(keyOf('k')))
    await valueOf(there.apply('k', [add('1')]))
    await valueOf(here.apply('k', [add('2')]))
    expect(shown(await node('copy', { store: away }))).toEqual(['a 60 2'])
  })

  test('is written at once where changes cannot be kept beside it', async () => {
    const here = await node()
    await valueOf(here.createKey(keyOf('k')))
    time.pass(copyDelayMs)
    mkdirSync(join(directory, 'copy.changes'))
    await valueOf(here.apply('k', [add('1')]))
    rmdirSync(join(directory, 'copy.changes'))
    expect(shown(await node('copy', { store: away }))).toEqual(['a 60 1'])
    expect(lines.join()).toContain('cannot be written')
  })

  async function filled(): Promise<void> {
    const here = await node()
    await valueOf(here.createKey(keyOf('k')))
    await valueOf(here.apply('k', [add('token')]))
    time.pass(copyDelayMs)
    await Promise.resolve()
  }

  test('starts a node without the database, which stays as it was while that is away', async () => {
    await filled()
    const again = await node('copy', { store: away })
    expect([again.isKnown(), shown(again)]).toEqual([true, ['a 60 token']])
    expect(again.find(wireName('k.example.'))?.secret).toEqual(secret)
    expect(await again.refresh()).toBe(false)
    expect(await again.refresh()).toBe(false)
    expect(shown(again)).toEqual(['a 60 token'])
    expect(lines).toHaveLength(1)
    expect(await codeOf(again.apply('k', [add('more')]))).toBe('store-away')
  })

  test('is written at a stop, for nobody else to read, and shows nothing', async () => {
    const here = await node()
    await valueOf(here.createKey(keyOf('k')))
    await valueOf(here.apply('k', [add('token')]))
    here.stop()
    const path = join(directory, 'copy')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).not.toMatch(/token|example|k\.|dG9rZW4/)
    expect(time.waiting).toBe(0)
  })

  test('without GSLB_SECRET_KEY has the records, and no secret to be read', async () => {
    const here = await node('plain', { key: null })
    await valueOf(state().dynamicDns.createKey(keyOf('k')))
    const record = { ...{ id: 'r', tenantId: 'acme', name: 'a.example.' }, type: 16, rdata: 'AXg=' }
    await valueOf(here.createRecord({ ...record, ttlSeconds: 60, createdAtMs: 1, writtenBy: '' }))
    here.stop()
    expect(readFileSync(join(directory, 'plain'), 'utf8')).not.toContain(secret.toString('base64'))
    expect(shown(await node('plain', { key: null, store: away }))).toEqual(['a 60 x'])
  })

  test.each([
    ['cut short', (text: string) => text.slice(0, -9)],
    ['of another key', () => seal(Buffer.alloc(32, 9), '{}')],
    ['empty', () => ''],
    ['of a later version', () => '{"version":2}'],
    ['no copy at all', () => '{'],
  ])('that is %s is said, and the database gives everything', async (_name, harm) => {
    await filled()
    const path = join(directory, 'copy')
    writeFileSync(path, harm(readFileSync(path, 'utf8')))
    const again = await node()
    expect([again.isKnown(), shown(again)]).toEqual([false, []])
    expect(lines.join()).toContain('cannot be read')
    await again.refresh()
    expect(shown(again)).toEqual(['a 60 token'])
  })

  test('that cannot be written is said; the change counts all the same', async () => {
    const here = await node('copy')
    rmSync(directory, { recursive: true })
    writeFileSync(directory, '')
    await valueOf(here.createKey(keyOf('k')))
    here.stop()
    expect(lines.join()).toContain('cannot be written')
    expect(here.find(wireName('k.example.'))?.id).toBe('k')
  })
})
