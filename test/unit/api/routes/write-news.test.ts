// Tests the answer to a write beside its object: warnings that it causes, and objects deleted with
// it.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sentenceList } from '#http/sentence-list.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { JudgingWriter } from '#questions/plan/judging-writer.ts'
import { assert } from '#lib/assert.ts'
import { systemClock } from '#lib/clock.ts'
import { noRoutingTables } from '#routing/choose/environment.ts'
import { createRoutingState } from '#routing/state/candidates.ts'
import type { LiveNode } from '#server/node/live-node.ts'
import {
  keyOf,
  recordsSettings,
  recordsZone,
  rootKey,
  startConfigWorld,
} from '#test/support/config-world.ts'
import type { ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld({ settings: recordsSettings })
})
afterAll(() => world.close())

const make = (name: string, type: string, value: string) =>
  world.call(acme, 'POST', '/records', { zone: recordsZone, name, type, values: [value] })
const warnings = 'x-gslb-warnings'
const affected = 'x-gslb-affected'

test('a write tells the warnings that it causes, and no older ones', async () => {
  const alias = { zone: recordsZone, name: 'docs', type: 'CNAME', values: ['gone'] }
  const said =
    '1, "docs.records.example. is an alias of gone.records.example., which does not exist"' +
    ';code=alias-target-missing'
  const dry = await world.call(acme, 'POST', '/records?dryRun=true', alias)
  expect([dry.status, dry.headers[warnings]]).toEqual([201, said])
  const made = await world.call(acme, 'POST', '/records', alias)
  expect([made.status, made.headers[warnings]]).toEqual([201, said])
  const other = await make('other', 'TXT', '"text"')
  expect([other.status, other.headers[warnings]]).toEqual([201, undefined])
})

test('two writes in one commit each get their own warnings', async () => {
  const [one, two] = await Promise.all([
    make('one', 'CNAME', 'nowhere'),
    make('two', 'TXT', '"text"'),
  ])
  expect(one.headers[warnings]).toMatch(/^1, "one\.records/)
  expect([two.status, two.headers[warnings]]).toEqual([201, undefined])
})

test('warnings about the files of others are not told', async () => {
  expect((await make('target', 'TXT', '"text"')).status).toBe(201)
  expect((await make('led', 'CNAME', 'target')).headers[warnings]).toBeUndefined()
  const zenith = keyOf('zenith')
  const body = { zone: recordsZone, name: 'led2', type: 'CNAME', values: ['target'] }
  expect((await world.call(zenith, 'POST', '/records', body)).status).toBe(201)
  const { list } = await world.call(acme, 'GET', '/records?type=TXT')
  const target = list.find(({ name }) => name.startsWith('target'))
  const gone = await world.call(acme, 'DELETE', `/records/${target?.id}`)
  expect([gone.status, gone.headers[warnings]]).toEqual([
    204,
    expect.stringMatching(/^1, "led\.records[^"]*";code=alias-target-missing$/),
  ])
})

test('an alias beside other records is refused in the words of who writes it', async () => {
  expect((await make('mail', 'TXT', '"text"')).status).toBe(201)
  const alias = await make('mail', 'CNAME', 'www.example.net.')
  expect([alias.status, alias.body.error]).toEqual([
    409,
    'mail.records.example. has TXT records, so that it cannot be an alias (CNAME).',
  ])
  expect((await make('web', 'A', '192.0.2.1')).status).toBe(201)
  const body = { name: 'web', domain: 'web.records.example.' }
  const service = await world.call(acme, 'POST', '/services', body)
  expect([service.status, service.body.error]).toEqual([
    409,
    'web.records.example. has A records, so that no service can answer for it.',
  ])
})

test('the deletion of a pool names what uses it, dry or refused', async () => {
  const pool = await world.call(acme, 'POST', '/pools', { name: 'web' })
  const poolId = pool.body.id
  const member = { name: 'a', ipAddress: '192.0.2.9', port: 80 }
  expect((await world.call(acme, 'POST', `/pools/${poolId}/members`, member)).status).toBe(201)
  for (const name of ['a', 'b']) {
    const body = { name, domain: `${name}.pool.example.`, poolId }
    expect((await world.call(acme, 'POST', '/services', body)).status).toBe(201)
  }
  const header = { 'x-gslb-override': 'closing' }
  const path = `/pools/${poolId}`
  const dry = await world.call(rootKey, 'DELETE', `${path}?dryRun=true`, undefined, header)
  expect([dry.status, dry.headers[affected]]).toEqual([
    204,
    '3, "service \\"a\\" is left without a pool", "service \\"b\\" is left without a pool", ' +
      '"1 member goes"',
  ])
  const from = { 'x-gslb-override': 'they are old' }
  const touched = await world.call(rootKey, 'POST', '/pools', { name: 'other' }, from)
  expect(touched.status).toBe(201)
  const refused = await world.call(acme, 'DELETE', path)
  expect([refused.status, refused.body.error]).toEqual([
    409,
    expect.stringMatching(
      /take with it: service "a" is left without a pool, service "b" .*, 1 member goes\.$/,
    ),
  ])
})

test.each([
  ['quotes and backslashes', [{ text: 'a "b" \\c' }], '1, "a \\"b\\" \\\\c"'],
  ['what no header can hold', [{ text: 'ü\r\nx: y' }], '1, "???x: y"'],
  ['arrows', [{ text: 'a. → b. → a.' }], '1, "a. -> b. -> a."'],
  ['many', ['a', 'b', 'c', 'd'].map((text) => ({ text })), '4, "a", "b", "c"'],
  ['long ones', [{ text: 'x'.repeat(500) }], `1, "${'x'.repeat(197)}..."`],
])('a list of sentences is a list of RFC 8941: %s', (_what, sentences, expected) => {
  expect(sentenceList(sentences)).toBe(expected)
})

test('a dry run tells what it would move, compared with what answers', async () => {
  const writer = world.ports.configWriter
  let would: Uint8Array | undefined
  const serving: { live?: LiveNode } = {}
  const judging = new JudgingWriter({
    writer: {
      write: async (request) => {
        const done = await writer.write(request)
        if (done.ok) would = done.value.bundle
        return done
      },
    },
    limits: () => undefined,
    node: () => serving.live,
    log: { warn: () => undefined },
    clock: systemClock,
  })
  Object.assign(world.ports, { configWriter: judging })
  onTestFinished(async () => {
    Object.assign(world.ports, { configWriter: writer })
    await judging.close()
  })
  const dry = (name: string) =>
    world.call(acme, 'POST', '/records?dryRun=true', {
      ...{ zone: recordsZone, name, type: 'TXT', values: ['"text"'] },
    })
  const first = await dry('first-effect')
  expect([first.status, first.headers['x-gslb-effect']]).toEqual([201, undefined])
  const loaded = loadBundle(would!)
  assert(loaded.ok, 'a dry run gives a bundle that loads')
  const { value: bundle } = loaded
  serving.live = {
    bundle,
    state: createRoutingState(bundle, 1),
    tables: noRoutingTables,
    commit: '',
  }
  const second = await dry('second-effect')
  expect([second.status, second.headers['x-gslb-effect']]).toEqual([
    201,
    'moved=0%; names=2; added=1; removed=1',
  ])
  const made = await make('made-effect', 'TXT', '"text"')
  expect([made.status, made.headers['x-gslb-effect'], would]).toEqual([201, undefined, undefined])
})

test('a write tells its effect where that is wanted', async () => {
  const body = { zone: recordsZone, name: 'effect', type: 'TXT', values: ['"text"'] }
  const call = (method: string, path: string, word: string) =>
    world.call(acme, method, path, method === 'POST' ? body : undefined, { 'x-gslb-effect': word })
  const other = await call('POST', '/records', 'yes')
  expect([other.status, other.body.error]).toEqual([
    400,
    'the header X-Gslb-Effect of a request can only be: wanted, unwanted',
  ])
  const unwanted = await call('POST', '/records', 'unwanted')
  expect([unwanted.status, unwanted.headers['x-gslb-effect']]).toEqual([201, undefined])
  const removed = await call('DELETE', `/records/${unwanted.body.id}`, 'wanted')
  expect([removed.status, removed.headers['x-gslb-effect']]).toEqual([
    204,
    'moved=0%; names=1; removed=1',
  ])
})

test('changes of one commit say so, and count names of the own tenant alone', async () => {
  const { configWriter } = world.ports
  const asked = (tenant: string, n: number, effectFor?: { readonly tenant: string | null }) => {
    const actor = { name: 'test', address: 'test@users.gslbd' }
    const spec = { domain: `shared-${tenant}-${n}.${recordsZone}`, pool: null }
    const name = `shared-${tenant}-${n}`
    const create = { verb: 'create', kind: 'Service', tenant, name, spec } as const
    const request = { requestId: name, actor, operations: [create] }
    return configWriter.write({ ...request, ...(effectFor && { effectFor }) })
  }
  const effects = await Promise.all(
    [
      asked('acme', 1, { tenant: 'acme' }),
      asked('acme', 2),
      asked('zenith', 1, { tenant: 'zenith' }),
      asked('zenith', 2, { tenant: null }),
    ].map(async (done) => {
      const result = await done
      return result.ok ? result.value.effect : result.error.message
    }),
  )
  expect(effects).toEqual([
    'moved=0%; names=2; added=2; together=4',
    undefined,
    'moved=0%; names=2; added=2; together=4',
    'moved=0%; names=4; added=4; together=4',
  ])
})
