// What becomes of updates whose signature is right. RFC 2136 section 3.
import { describe, expect, test } from 'vitest'
import { encodeBundle } from '#bundle/encode/encode.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import { tsigAlgorithm } from '#dns/tsig/tsig-algorithms.ts'
import { err, ok } from '#lib/result.ts'
import type { LiveTsigKey } from '#zones/dynamic/live-keys.ts'
import { DynamicDns } from '#zones/dynamic/dynamic-dns.ts'
import { createLocalCopy } from '#zones/dynamic/local-copy.ts'
import { Updates, waitingMax } from '#zones/update/updates.ts'
import type { UpdatesParts } from '#zones/update/updates.ts'
import type { Log } from '#lib/log.ts'
import type { RecordChange } from '#state/ports/dynamic-dns.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { modelOf } from '#test/support/dns/model.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const zone = wireName('example.com.')
const key: LiveTsigKey = {
  ...{
    id: 'k',
    tenantId: 'acme',
    name: wireName('k.example.'),
    scope: wireName('_acme.example.com.'),
  },
  ...{ algorithm: tsigAlgorithm('hmac-sha256.')!, secret: new Uint8Array(32) },
}
const text =
  '@ 60 IN SOA ns root 1 2 3 4 5\n@ 60 NS ns.example.net.\nwww 60 A 192.0.2.1\n' +
  'c._acme 60 CNAME www\ncut._acme 60 NS ns.example.net.\nd._acme 60 DNAME example.net.\n' +
  '*.w._acme 60 CNAME www\n'
const model = modelOf({ name: 'example.com.', text })
const childZone = { ...model.zones[0]!, name: 'child._acme.example.com.' }
const encoded = encodeBundle({ ...model, zones: [...model.zones, childZone] }, () => -1)
const bundle = adoptBundle(encoded.bytes, encoded.digest)

/** Name, type, class, TTL, data. */
function record(name: Uint8Array, type: number, klass: number, rdata: string): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(klass, 2)
  fixed.writeUInt16BE(rdata.length, 8)
  return Buffer.concat([name, fixed, Buffer.from(rdata, 'latin1')])
}
const below = wireName('_acme.example.com.')
const addText = (value: string, name = below): Buffer =>
  record(name, 16, 1, `${String.fromCharCode(value.length)}${value}`)

interface Sections {
  readonly apex?: Uint8Array
  readonly needs?: readonly Buffer[]
  readonly updates?: readonly Buffer[]
  /** What the header says of updates. */
  readonly says?: number
}
function messageOf({ apex = zone, needs = [], updates = [], says }: Sections): Buffer {
  const header = Buffer.alloc(12)
  header[2] = 0x28
  for (const [i, count] of [1, needs.length, says ?? updates.length].entries()) {
    header.writeUInt16BE(count, 4 + i * 2)
  }
  return Buffer.concat([header, apex, Buffer.of(0, 6, 0, 1), ...needs, ...updates])
}

function updatesWith(parts: Partial<UpdatesParts['dynamicDns']> = {}, log: Log = silentLog) {
  const values: Uint8Array[] = []
  const dynamicDns: UpdatesParts['dynamicDns'] = {
    find: () => key,
    texts: {
      find: (name) => {
        const isThere = name === '_acme.example.com.' && values.length > 0
        const rrsets = [{ type: 16, ttlSeconds: 60, values }]
        return isThere ? { name: below, rrsets } : undefined
      },
      recordsAt: () => [],
    },
    refresh: async () => true,
    apply: async (_keyId: string, changes: readonly RecordChange[]) => {
      for (const change of changes) {
        if (change.verb === 'add') values.push(Buffer.from(change.rdata, 'base64'))
      }
      return ok({ revision: values.length, added: [], removed: [] })
    },
    ...parts,
  }
  const mayWrite = (_tenant: string, name: string): boolean => !name.startsWith('no.')
  const zones = [zone, wireName('undeclared.example.')]
  const types = new Set([16])
  const updates = new Updates({ dynamicDns, bundle: () => bundle, zones, types, mayWrite, log })
  const outcomeOf = (sections: Sections) => updates.carryOut(messageOf(sections), key.name)
  const send = async (sections: Sections) => (await outcomeOf(sections)).rcode
  return { send, outcomeOf, values }
}

test.each<
  [what: string, sections: Sections, why: string, parts?: Parameters<typeof updatesWith>[0]]
>([
  ['what is carried out', { updates: [addText('x')] }, ''],
  [
    'a zone cut',
    { updates: [addText('x', wireName('cut._acme.example.com.'))] },
    'update it there',
  ],
  ['below a DNAME', { updates: [addText('x', wireName('x.d._acme.example.com.'))] }, 'leads to'],
  ['a name of others', { updates: [addText('x', wireName('no._acme.example.com.'))] }, 'tenant of'],
  ['a zone without updates', { apex: wireName('example.net.') }, 'dns.update.zones'],
  ['a zone that is not declared', { apex: wireName('undeclared.example.') }, 'gslb.yaml'],
  ['a fault', { updates: [addText('x')] }, 'its log', { apply: () => Promise.reject(new Error()) }],
  ['a key that is gone', { updates: [addText('x')] }, 'deleted', { find: () => undefined }],
])('the outcome of %s says why', async (_what, sections, why, parts) => {
  const outcome = await updatesWith(parts).outcomeOf(sections)
  expect(outcome.why).toEqual(why === '' ? '' : expect.stringContaining(why))
})

const many = (count: number): Buffer[] => Array.from({ length: count }, (_, i) => addText(`${i}`))
const rows: readonly [string, Sections, number][] = [
  ['one record', { updates: [addText('x')] }, 0],
  ['nothing', {}, 0],
  ['a type that comes from Git, which is skipped', { updates: [record(below, 1, 1, '1234')] }, 0],
  ['60,000 records that are not there', { updates: many(100), says: 60_000 }, 1],
  ['500 changes', { updates: many(500) }, 0],
  ['501 changes', { updates: many(501) }, 5],
  ['as many as fit into a message', { updates: many(2_000) }, 5],
  ['a text of two octets too few', { updates: [record(below, 16, 1, '\x05abc')] }, 1],
  ['a zone that takes no updates', { apex: wireName('example.net.') }, 9],
  ['a name that is no zone', { apex: wireName('www.example.com.') }, 9],
  ['a name outside the zone', { updates: [addText('x', wireName('a.example.net.'))] }, 10],
  ['a name above the scope of the key', { updates: [addText('x', wireName('b.example.com.'))] }, 5],
  ['a name of another tenant', { updates: [addText('x', wireName('no._acme.example.com.'))] }, 5],
  [
    'a name that must not be there',
    { needs: [record(wireName('www.example.com.'), 255, 254, '')] },
    6,
  ],
  ['a name that must be there', { needs: [record(wireName('w.example.com.'), 255, 255, '')] }, 3],
]
test.each(rows)('%s', async (_what, sections, rcode) => {
  const { send, values } = updatesWith()
  expect(await send(sections)).toBe(rcode)
  if (rcode !== 0) expect(values).toEqual([])
})

test('what is skipped is told in the log, with the first of it', async () => {
  const lines: object[] = []
  const log = { ...silentLog, warn: (fields: object) => void lines.push(fields) }
  const { send, values } = updatesWith({}, log)
  const address = record(below, 1, 1, '1234')
  expect(await send({ updates: [addText('x'), address, address] })).toBe(0)
  expect(values).toHaveLength(1)
  expect(lines).toMatchObject([{ changes: 1, skipped: 2, first: '_acme.example.com. A' }])
})

test.each<[what: string, sections: Sections, says: string | undefined]>([
  ['a zone that takes no updates', { apex: wireName('example.net.') }, 'dns.update.zones'],
  ['a name outside the zone', { updates: [addText('x', wireName('a.example.net.'))] }, 'outside'],
  ['another form', { updates: [record(below, 16, 1, '\x05abc')] }, 'RFC 2136'],
  ['a name of another zone', { updates: [addText('x', wireName(childZone.name))] }, 'another zone'],
  [
    'a name that must be there',
    { needs: [record(wireName('w.example.com.'), 255, 255, '')] },
    undefined,
  ],
])(
  'the log says why %s is refused, and nothing of prerequisites',
  async (_what, sections, says) => {
    const lines: object[] = []
    const log = { ...silentLog, info: (fields: object) => void lines.push(fields) }
    expect(await updatesWith({}, log).send(sections)).not.toBe(0)
    const reason = expect.stringContaining(says ?? '') as string
    const about = { key: 'k.example.', tenant: 'acme', reason }
    expect(lines).toMatchObject(says === undefined ? [] : [about])
  },
)

const hiddenRows: readonly [string, string, number][] = [
  // RFC 2136 section 3.4.2.2: ignored, and nothing is wrong.
  ['an alias', 'c._acme.example.com.', 0],
  ['a zone cut', 'cut._acme.example.com.', 10],
  ['a name below a zone cut', 'a.b.cut._acme.example.com.', 10],
  ['a name below a DNAME', 'x.d._acme.example.com.', 5],
]
test.each(['child._acme.example.com.', 'a.child._acme.example.com.'])(
  'a name in another zone of ours below is NOTZONE, and nothing is done: %s',
  async (name) => {
    const { send, values } = updatesWith()
    const rest = addText('y')
    expect(await send({ updates: [rest, addText('x', wireName(name))] })).toBe(10)
    expect(await send({ updates: [rest, record(wireName(name), 16, 255, '')] })).toBe(10)
    expect(values).toEqual([])
  },
)

test.each(hiddenRows)('texts at %s are not taken: %s', async (_what, name, rcode) => {
  const { send, values } = updatesWith()
  expect(await send({ updates: [addText('x', wireName(name))] })).toBe(rcode)
  expect(values).toEqual([])
})

test('beside an alias, other changes are carried out; deletions always are', async () => {
  const { send, values } = updatesWith()
  const alias = addText('x', wireName('c._acme.example.com.'))
  expect(await send({ updates: [alias, addText('y')] })).toBe(0)
  expect(values).toHaveLength(1)
  const gone = record(wireName('x.d._acme.example.com.'), 16, 255, '')
  expect(await send({ updates: [gone] })).toBe(0)
})

test.each(['d._acme.example.com.', 'x.w._acme.example.com.', 'new._acme.example.com.'])(
  'texts at %s are answered, and taken',
  async (name) => {
    const { send, values } = updatesWith()
    expect(await send({ updates: [addText('x', wireName(name))] })).toBe(0)
    expect(values).toHaveLength(1)
  },
)

test('the prerequisites of an update see the one before it', async () => {
  const { send, values } = updatesWith()
  const first = { needs: [record(below, 16, 254, '')], updates: [addText('x')] }
  expect(await Promise.all([send(first), send(first)])).toEqual([0, 7])
  expect(values).toHaveLength(1)
})

test('one more than may wait for a slow database is SERVFAIL at once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const apply = async () => {
    await promise
    return ok({ revision: 1, added: [], removed: [] })
  }
  const { send } = updatesWith({ apply })
  const update = { updates: [addText('x')] }
  const waiting = Array.from({ length: waitingMax }, () => send(update))
  expect(await send(update)).toBe(2)
  resolve()
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([0]))
  expect(await send(update)).toBe(0)
})

test.each([
  ['a key that was deleted meanwhile', { find: () => undefined }, 5],
  [
    'a database that is away',
    { apply: async () => err({ code: 'store-away' as const, message: 'away' }) },
    2,
  ],
  [
    'a fault of ours',
    {
      apply: async () => {
        throw new Error('fault')
      },
    },
    2,
  ],
])('%s', async (_what, parts, rcode) => {
  const { send } = updatesWith(parts)
  expect(await send({ updates: [addText('x')] })).toBe(rcode)
})

test.each([
  ['others change its names each time', true, 3],
  ['the database is away when it is looked at again', false, 1],
])('an update is SERVFAIL where %s', async (_what, isThere, tries) => {
  let [applied, looked] = [0, 0]
  const { send } = updatesWith({
    apply: async () => {
      applied++
      return err({ code: 'changed-meanwhile' as const, message: 'changed' })
    },
    refresh: async () => {
      looked++
      return isThere
    },
  })
  const needs = [record(below, 255, 254, '')]
  expect(await send({ needs, updates: [addText('x')] })).toBe(2)
  expect([applied, looked]).toEqual([tries, Math.max(1, tries - 1)])
})

describe('two nodes of one database, which have not heard of each other yet', () => {
  const state = useState(persistentAdapters[0]![1])

  async function node() {
    const { clock, after } = new FakeTime(1_000)
    const copy = createLocalCopy(`${tempDir('updates')}/copy`, null, silentLog)
    const store = state().dynamicDns
    const dynamic = new DynamicDns({
      ...{ store, copy, secretKey: null, now: clock.nowMs, after, log: silentLog },
    })
    await dynamic.start()
    const updates = new Updates({
      dynamicDns: {
        find: () => key,
        texts: dynamic.texts,
        refresh: () => dynamic.refresh(),
        apply: (...call) => dynamic.apply(...call),
      },
      ...{ bundle: () => bundle, zones: [zone], types: new Set([1, 49]), log: silentLog },
      mayWrite: () => true,
    })
    return async (sections: Sections) =>
      (await updates.carryOut(messageOf(sections), key.name)).rcode
  }

  const laptop = wireName('laptop._acme.example.com.')
  const dhcid = (client: string): Buffer => record(laptop, 49, 1, `\0\x01\x01${client}`)
  /** RFC 4703 section 5.3.1: only where nobody has the name. */
  const claim = (client: string, address: string): Sections => ({
    needs: [record(laptop, 255, 254, '')],
    updates: [dhcid(client), record(laptop, 1, 1, address)],
  })

  test('give one name to one DHCP client, and its next update is taken on each', async () => {
    const [here, there] = [await node(), await node()]
    const secretCiphertext = 'v1.sealed'
    const names = { name: 'k.example.', algorithm: 'hmac-sha256.', scope: null }
    const stored = { id: 'k', tenantId: 'acme', ...names, secretCiphertext, createdAtMs: 1 }
    await valueOf(state().dynamicDns.createKey(stored))
    expect(await here(claim('one', '1111'))).toBe(0)
    expect(await there(claim('two', '2222'))).toBe(6)
    // Section 5.3.2: where it is the client's own.
    const mine = { needs: [dhcid('one')], updates: [record(laptop, 1, 1, '3333')] }
    expect(await there(mine)).toBe(0)
    expect(await here({ needs: [dhcid('two')], updates: [record(laptop, 1, 1, '4444')] })).toBe(8)
    const both = await valueOf(state().dynamicDns.listRecords('every-tenant'))
    expect(both.map(({ type }) => type).sort()).toEqual([1, 1, 49])
  })
})
