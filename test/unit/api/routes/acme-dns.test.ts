// The acme-dns endpoint, asked in the shapes in which its clients ask.
import { expect, test } from 'vitest'
import type { AcmeDnsRegistration } from '#ports/acme-dns.ts'
import { createApp } from '#api/server/app.ts'
import { err, ok } from '#lib/result.ts'
import { createAcmeDns } from '#integrations/acme/acme-dns.ts'
import type { Settings } from '#settings/settings.ts'
import type { AcmeDnsAccount } from '#state/ports/acme-dns.ts'
import type { StoredRecord } from '#state/ports/dynamic-dns.ts'
import { portsOf } from '#test/support/api-ports.ts'
import { FakeTime } from '#test/support/fake-time.ts'

const plain = {
  ...{ domain: 'acme.example.com', registerFrom: ['127.0.0.0/8'] },
  ...{ tenant: 'default', maxKeys: 100 },
}
const txt = (letter: string): string => letter.repeat(43)

interface Stored {
  readonly accounts: Map<string, AcmeDnsAccount>
  readonly records: StoredRecord[]
}

/** @param stored of a node with other settings, before it was started again with these */
function world(
  more: Partial<Settings['acmeDns']> = {},
  { accounts, records }: Stored = { accounts: new Map(), records: [] },
) {
  const settings = { ...plain, ...more }
  const time = new FakeTime(Date.UTC(2026, 10, 30))
  const remove = (id: string): void => {
    const at = records.findIndex((one) => one.id === id)
    if (at >= 0) records.splice(at, 1)
  }
  const acmeDns = createAcmeDns({
    settings,
    store: {
      create: async (account, max) => {
        if (accounts.size >= max) return err({ code: 'too-many-accounts', message: 'full' })
        accounts.set(account.username, account)
        return ok(undefined)
      },
      find: async (username) => ok(accounts.get(username) ?? null),
      list: async () => ok([...accounts.values()]),
      delete: async (username) => ok(accounts.delete(username)),
    },
    dynamicDns: {
      createRecord: async (record) => {
        records.push(record)
        return ok({ revision: 1, added: [record], removed: [] })
      },
      deleteRecord: async (_scope, id) => {
        remove(id)
        return ok({ revision: 1, added: [], removed: [id] })
      },
      listRecords: async () => ok([...records]),
      texts: { recordsAt: (name) => records.filter((one) => one.name === name) },
    },
    clock: time.clock,
  })
  const app = createApp(portsOf({ acmeDns, clock: time.clock }), [])
  const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const answer = await app.inject({
      ...{ method: 'POST', url: `/acme-dns/${path}`, payload: body, headers },
      remoteAddress: headers['x-from'] ?? '127.0.0.1',
    })
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() }
  }
  const register = async (body = '{"allowfrom":[]}', headers: Record<string, string> = {}) =>
    (await post('register', body, headers)).body as unknown as AcmeDnsRegistration
  const update = (
    { username, password, subdomain }: AcmeDnsRegistration,
    value: string,
    headers: Record<string, string> = {},
  ) =>
    post('update', JSON.stringify({ subdomain, txt: value }), {
      ...{ 'x-api-user': username, 'x-api-key': password, ...headers },
    })
  const values = () =>
    records.map(({ rdata }) => Buffer.from(rdata, 'base64').subarray(1).toString())
  return { time, app, acmeDns, accounts, post, register, update, records, values }
}

test.each([
  ['certbot and lego', '{"allowfrom":[]}', { 'content-type': 'application/json' }],
  ['a client that sends null', '{"allowfrom":null}', {}],
  ['acme.sh, which sends nothing', '', {}],
  ['curl -d', '{}', { 'content-type': 'application/x-www-form-urlencoded' }],
])('%s registers', async (_what, body, headers) => {
  const { post, accounts } = world()
  const { status, body: made } = await post('register', body, headers)
  expect([status, Object.keys(made).toSorted()]).toEqual([
    201,
    ['allowfrom', 'fulldomain', 'password', 'subdomain', 'username'],
  ])
  expect(made['fulldomain']).toBe(`${String(made['subdomain'])}.acme.example.com`)
  expect(made['allowfrom']).toEqual([])
  expect(JSON.stringify([...accounts.values()])).not.toContain(made['password'])
})

test('a key sets the value of its name, and the two newest stay', async () => {
  const { register, update, records, values, time } = world()
  const made = await register()
  for (const letter of ['a', 'b', 'b', 'c']) {
    expect(await update(made, txt(letter))).toEqual({ status: 200, body: { txt: txt(letter) } })
    time.pass(5)
  }
  expect(values()).toEqual([txt('b'), txt('c')])
  expect(new Set(records.map(({ name }) => name))).toEqual(new Set([`${made.fulldomain}.`]))
  expect(records.at(-1)?.writtenBy).toBe(`acme-dns:${made.username}`)
})

test('a value that is set again is the newest', async () => {
  const { register, update, values, time } = world()
  const made = await register()
  for (const letter of ['a', 'b', 'a', 'c']) {
    await update(made, txt(letter))
    time.pass(5)
  }
  expect(values()).toEqual([txt('a'), txt('c')])
})

test('values go when they are a day old, and others stay', async () => {
  const { register, update, records, values, time } = world()
  const [made, other] = [await register(), await register()]
  await update(made, txt('a'))
  records.push({ ...records[0]!, id: 'people', writtenBy: 'key:certbot.' })
  time.pass(86_400_001)
  await update(other, txt('b'))
  expect(values()).toEqual([txt('a'), txt('b')])
  expect(records[0]!.id).toBe('people')
})

test('a wrong request gets the error of acme-dns, and sets nothing', async () => {
  const { register, update, records } = world()
  const [made, other] = [await register(), await register()]
  const cases: [AcmeDnsRegistration, string, number, string][] = [
    [{ ...made, password: 'wrong' }, txt('a'), 401, 'forbidden'],
    [{ ...made, username: 'nobody' }, txt('a'), 401, 'forbidden'],
    [{ ...made, password: other.password }, txt('a'), 401, 'forbidden'],
    [{ ...made, subdomain: other.subdomain }, txt('a'), 401, 'forbidden'],
    [made, 'short', 400, 'bad_txt'],
    [made, `${txt('a')}a`, 400, 'bad_txt'],
    [made, ' '.repeat(43), 400, 'bad_txt'],
  ]
  for (const [who, value, status, error] of cases) {
    expect(await update(who, value)).toEqual({ status, body: { error } })
  }
  expect(records).toEqual([])
})

test.each([
  ['update', '{}', 400, 'subdomain'],
  ['update', 'SUB,"txt":"","more":{}}', 400, 'bad_txt'],
  ['update', 'SUB}', 400, 'txt'],
  ['update', '', 400, 'subdomain'],
  ['update', 'SUB,"txt":7}', 400, 'txt: '],
  ['update', 'SUB', 400, 'body: is not JSON'],
  ['update', '[]', 400, 'body: '],
  ['update', 'null', 400, 'subdomain'],
  ['register', '{"allowfrom":["192.0.2.0/33"]}', 400, 'invalid_allowfrom_cidr'],
  ['register', '{"allowfrom":["::1/129", "192.0.2.0/24"]}', 400, 'invalid_allowfrom_cidr'],
  ['register', '{"allowfrom":"192.0.2.0/24"}', 400, 'allowfrom: '],
  ['register', '{"allowfrom":[7]}', 400, 'allowfrom'],
  ['register', '{"allowfrom"', 400, 'body: is not JSON'],
])('%s with %s is %i', async (path, given, status, error) => {
  const { register, post, records, accounts } = world()
  const { username, password, subdomain } = await register()
  const body = given.replace('SUB', `{"subdomain":"${subdomain}"`)
  const headers = { 'x-api-user': username, 'x-api-key': password }
  const said = await post(path, body, headers)
  expect([said.status, said.body['error']]).toEqual([status, expect.stringContaining(error)])
  expect([records.length, accounts.size]).toEqual([0, 1])
})

test('a field that is not known is passed over', async () => {
  const { register, post, values } = world()
  const { username, password, subdomain } = await register('{"allowfrom":[],"note":"mine"}')
  const body = JSON.stringify({ subdomain, txt: txt('a'), fulldomain: 'x' })
  const headers = { 'x-api-user': username, 'x-api-key': password }
  expect((await post('update', body, headers)).status).toBe(200)
  expect(values()).toEqual([txt('a')])
})

test('a key counts from its networks alone', async () => {
  const { register, update } = world()
  const made = await register('{"allowfrom":["192.0.2.0/24","2001:db8::/32"]}')
  expect(made.allowfrom).toEqual(['192.0.2.0/24', '2001:db8::/32'])
  const from = async (address: string) =>
    (await update(made, txt('a'), { 'x-from': address })).status
  expect(await from('127.0.0.1')).toBe(401)
  expect(await from('192.0.2.7')).toBe(200)
  expect(await from('::ffff:192.0.2.7')).toBe(200)
  expect(await from('2001:db8::1')).toBe(200)
})

test('a stranger that registers is told so, and so is a list that is none', async () => {
  const { post } = world()
  const said = async (body: string, from: string) =>
    (await post('register', body, { 'x-from': from })).body['error']
  expect(await said('{}', '192.0.2.1')).toBe('forbidden')
  expect(await said('{"allowfrom":["everybody"]}', '127.0.0.1')).toBe('invalid_allowfrom_cidr')
  const many = JSON.stringify({ allowfrom: Array<string>(33).fill('192.0.2.0/24') })
  expect(await said(many, '127.0.0.1')).toBe('invalid_allowfrom_cidr')
})

test('keys are of one tenant, which lists and deletes them with what they have set', async () => {
  const { acmeDns, accounts, register, update, records, values } = world({ tenant: 'shop' })
  const [one, other] = [await register('{"allowfrom":["127.0.0.0/8"]}'), await register()]
  await update(one, txt('a'))
  await update(other, txt('b'))
  expect(records.map(({ tenantId }) => tenantId)).toEqual(['shop', 'shop'])
  const shop = { tenantId: 'shop' }
  const listed = await acmeDns.list(shop)
  expect(listed.ok && listed.value.map(({ name }) => name)).toEqual([
    ...[one, other].map(({ fulldomain }) => `${fulldomain}.`),
  ])
  expect(listed).toMatchObject({ value: [{ tenantId: 'shop', allowFrom: ['127.0.0.0/8'] }, {}] })
  expect(JSON.stringify(listed)).not.toContain('assword')
  const stranger = { tenantId: 'default' }
  expect(await acmeDns.list(stranger)).toEqual(ok([]))
  expect(await acmeDns.delete(stranger, one.username)).toEqual(ok(false))
  expect(await acmeDns.list('every-tenant')).toEqual(listed)
  expect(await acmeDns.delete(shop, one.username)).toEqual(ok(true))
  expect(await acmeDns.delete(shop, one.username)).toEqual(ok(false))
  expect([...accounts.keys()]).toEqual([other.username])
  expect(values()).toEqual([txt('b')])
  expect(await update(one, txt('c'))).toMatchObject({ status: 401 })
})

test.each([
  ['has another domain', 'other.example.com', true],
  ['is off', '', false],
])('a key is deleted with its values where the endpoint %s by now', async (_w, domain, isOn) => {
  const before = world()
  const [one, other] = [await before.register(), await before.register()]
  await before.update(one, txt('a'))
  await before.update(other, txt('b'))
  before.records.push({ ...before.records[0]!, id: 'people', writtenBy: 'key:certbot.' })
  const { acmeDns, app, records } = world({ domain }, before)
  const listed = await app.inject('/api/v1/acme-dns/keys')
  expect(
    listed
      .json<{ name: string }[]>()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([one, other].map(({ subdomain }) => (isOn ? `${subdomain}.${domain}.` : '')).toSorted())
  expect(await acmeDns.delete('every-tenant', one.username)).toEqual(ok(true))
  expect(records.map(({ writtenBy }) => writtenBy)).toEqual([
    `acme-dns:${other.username}`,
    'key:certbot.',
  ])
})

test('there are no more keys than the settings allow, until one is deleted', async () => {
  const { acmeDns, register, post } = world({ maxKeys: 1 })
  const { username } = await register()
  expect(await post('register', '{}')).toEqual({ status: 409, body: { error: 'full' } })
  await acmeDns.delete('every-tenant', username)
  expect((await post('register', '{}')).status).toBe(201)
})

test('the endpoint is off without a domain', async () => {
  const { post, app } = world({ domain: '', registerFrom: ['0.0.0.0/0'] })
  expect((await post('register', '{}')).status).toBe(404)
  expect((await app.inject('/acme-dns/health')).statusCode).toBe(404)
  expect((await world().app.inject('/acme-dns/health')).statusCode).toBe(200)
})

test('guesses of a key and registrations are limited for each client', async () => {
  const { register, update, post } = world()
  const made = await register()
  const wrong = { ...made, password: 'wrong' }
  const codes: number[] = []
  for (let i = 0; i < 25; i++) codes.push((await update(wrong, txt('a'))).status)
  expect(codes.filter((code) => code === 429)).toHaveLength(5)
  const more: number[] = []
  for (let i = 0; i < 12; i++) more.push((await post('register', '{}')).status)
  expect(more.filter((code) => code === 429)).toHaveLength(3)
})

test('a page of another site cannot register', async () => {
  const { post } = world()
  const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  expect((await post('register', '{}', headers)).status).toBe(403)
})
