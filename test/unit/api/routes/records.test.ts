import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyOf, recordsSettings, rootKey, startConfigWorld } from '#test/support/config-world.ts'
import type { Answered, ConfigWorld } from '#test/support/config-world.ts'

const acme = keyOf('acme')
const zenith = keyOf('zenith')
const zone = 'records.example.'
const settings = `${recordsSettings}    - name: acme.example.
      nameservers: [{ name: ns1.example.net. }]
      tenants: [acme]
    - name: moving.example.
      nameservers: [{ name: ns1.example.net. }]
      tenants: [acme]
      from: { primaries: [192.0.2.53] }
    - name: nobody.example.
      nameservers: [{ name: ns1.example.net. }]
`
let world: ConfigWorld
beforeAll(async () => {
  world = await startConfigWorld({ settings })
})
afterAll(() => world.close())

const call: ConfigWorld['call'] = (...args) => world.call(...args)
const fileOf = (path: string): string => world.git('show', `main:tenants/acme/records/${path}`)
const files = (): string[] =>
  world.git('ls-tree', '-r', '--name-only', 'main', 'tenants/acme/records').split('\n')

let count = 0
const fresh = (): string => `name-${++count}`
const text = (name = fresh()) => ({ zone, name, type: 'TXT', values: ['"some text"'] })
const made = (body: object, by = acme): Promise<Answered> => call(by, 'POST', '/records', body)

describe('records', () => {
  test('are one resource for each name and type, in a file of its own', async () => {
    const answer = await made({
      zone: 'Records.Example.',
      name: 'Shop',
      type: 'mx',
      values: ['10 mail.example.net.'],
    })
    expect(answer).toMatchObject({
      status: 201,
      headers: { 'x-gslb-revision': world.git('rev-parse', 'main') },
    })
    expect(answer.body).toEqual({
      id: expect.any(String) as string,
      zone,
      name: `shop.${zone}`,
      type: 'MX',
      ttl: 3_600,
      values: ['10 mail.example.net.'],
    })
    expect(fileOf('shop.records.example-mx.yaml')).toContain(
      'spec:\n  zone: records.example.\n  records:\n    - name: shop\n      type: MX\n      values:\n',
    )
    const read = await call(acme, 'GET', `/records/${answer.body.id}`)
    expect(read.body).toEqual(answer.body)
    expect(read.headers['etag']).toBe(answer.headers['etag'])
    expect((await call(acme, 'GET', '/records')).list).toContainEqual(answer.body)
  })

  test('the zone itself is @ in its file, and the id is that of the name and type', async () => {
    const sent = { zone, name: zone, type: 'CAA', ttl: 60, values: ['0 issue ";"'] }
    const { id } = (await made(sent)).body
    expect(fileOf('records.example-caa.yaml')).toContain(
      '    - name: "@"\n      type: CAA\n      ttl: 60\n',
    )
    await call(acme, 'DELETE', `/records/${id}`)
    expect((await made({ ...sent, name: '@' })).body.id).toBe(id)
  })

  test('a type that has a name is known by it, whichever way it was written', async () => {
    const name = fresh()
    const values = ['\\# 4 c000020a']
    const answer = await made({ zone: 'acme.example.', name, type: 'type1', values })
    expect([answer.status, answer.body]).toMatchObject([201, { type: 'A', values }])
    const other = await made({ zone: 'acme.example.', name, type: 'TYPE65280', values })
    expect(other.body).toMatchObject({ type: 'TYPE65280' })
    const { list } = await call(acme, 'GET', `/records?type=A&name=${name}.acme.example.`)
    expect(list).toMatchObject([{ id: answer.body.id }])
    for (const { id } of [answer.body, other.body]) await call(acme, 'DELETE', `/records/${id}`)
  })

  test('a SOA record below a zone is told of the zone, which has one', async () => {
    const values = ['ns. mail. 1 2 3 4 5']
    const answer = await made({ zone: 'acme.example.', name: fresh(), type: 'SOA', values })
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.stringContaining('the SOA records of the zone acme.example. come from gslb.yaml'),
    ])
  })

  test('a list is of one zone, name or type, and has pages', async () => {
    const name = fresh()
    for (const type of ['A', 'AAAA']) {
      const values = type === 'A' ? ['192.0.2.10'] : ['2001:db8::10']
      await made({ zone: 'acme.example.', name, type, values })
    }
    const ask = async (query: string): Promise<readonly string[]> => {
      const { list } = await call(acme, 'GET', `/records?${query}`)
      return list
        .map((one) => `${one.name} ${(one as unknown as { type: string }).type}`)
        .toSorted()
    }
    const both = [`${name}.acme.example. A`, `${name}.acme.example. AAAA`]
    expect(await ask('zone=ACME.example')).toEqual(both)
    expect(await ask(`name=${name}.acme.example.`)).toEqual(both)
    expect(await ask('zone=acme.example.&type=aaaa')).toEqual(both.slice(1))
    expect(await ask('zone=acme.example.&type=type28')).toEqual(both.slice(1))
    expect(await ask('zone=nobody.example.')).toEqual([])
    expect(await ask('type=bogus')).toEqual([])
    const first = await call(acme, 'GET', '/records?zone=acme.example.&limit=1')
    const cursor = first.headers['x-next-cursor']
    const second = await call(acme, 'GET', `/records?zone=acme.example.&limit=1&cursor=${cursor}`)
    expect([...first.list, ...second.list]).toHaveLength(2)
    expect(second.headers['x-next-cursor']).toBeUndefined()
  })

  test.each([
    [
      { ...text(), values: ['some text'] },
      'values.0: without quotes of its own the text falls into 2 strings; write \'"some text"\'',
    ],
    [
      { ...text(), type: 'MX', values: ['10 a.', '10 b..c.'] },
      'values.1: wrong MX value, at its column 6: expected the name of a mail server: a label before this dot',
    ],
    [{ ...text(), type: 'TXTT' }, 'type: there is no type of records "TXTT"'],
    [{ ...text(), name: 'a..b' }, 'name: "a..b" is no name for records'],
    [
      { ...text(), name: 'www.records.example' },
      'without a final dot it means www.records.example.records.example.; write "www.records',
    ],
    [{ ...text(), zone: 'other.example.' }, 'zone: gslb.yaml declares no zone other.example.'],
    [
      { ...text(), name: 'www.example.net.' },
      'name: www.example.net. is not in the zone records.example.',
    ],
    [{ ...text(), values: [] }, 'values: must be a list'],
  ])('%j is refused with the words of the compiler', async (body, words) => {
    const answer = await made(body)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(words)
  })

  test('a name and type has one record set over all tenants, and no word whose', async () => {
    const sent = text()
    await made(sent)
    for (const by of [acme, zenith]) {
      const again = await made({ ...sent, name: sent.name.toUpperCase() }, by)
      expect([again.status, again.body.error]).toEqual([
        409,
        `name: ${sent.name}.records.example. has TXT records already.`,
      ])
    }
  })

  test('addresses beside a service are a conflict, and a text is not', async () => {
    const name = fresh()
    const domain = `${name}.${zone}`
    expect((await call(acme, 'POST', '/services', { name, domain })).status).toBe(201)
    const address = await made({ zone, name, type: 'A', values: ['192.0.2.10'] })
    expect([address.status, address.body.error]).toEqual([
      409,
      `type: a service answers for ${domain}, so that it cannot have A records.`,
    ])
    expect((await made(text(name))).status).toBe(201)
  })

  test('are named to a later object without a field that it does not have', async () => {
    const name = fresh()
    await made({ zone, name, type: 'A', values: ['192.0.2.10'] })
    const domain = `${name}.${zone}`
    const service = await call(acme, 'POST', '/services', { name, domain })
    expect([service.status, service.body.error]).toEqual([
      409,
      `${domain} has A records, so that no service can answer for it.`,
    ])
    const alias = await made({ zone, name, type: 'CNAME', values: ['www.example.net.'] })
    expect([alias.status, alias.body.error]).toEqual([
      409,
      `${domain} has A records, so that it cannot be an alias (CNAME).`,
    ])
  })

  test('a record set that others name stays, and the answer says which', async () => {
    const written = await world.ports.configWriter.write({
      requestId: 'by-hand',
      actor: { name: 'ann', address: 'ann@users.gslbd' },
      operations: [
        {
          verb: 'create',
          kind: 'Records',
          tenant: 'acme',
          name: 'mail',
          spec: {
            zone,
            records: [
              { name: 'mail', type: 'A', values: ['192.0.2.25'] },
              { name: 'post', type: 'MX', values: ['10 mail'] },
            ],
          },
        },
      ],
    })
    expect(written.ok).toBe(true)
    const { list } = await call(acme, 'GET', `/records?name=mail.${zone}`)
    const answer = await call(acme, 'DELETE', `/records/${list[0]!.id}`)
    expect(answer.status).toBe(409)
    const place = 'Records "mail" (tenants/acme/records/mail.yaml, line '
    expect(answer.body.error.startsWith(place)).toBe(true)
    const why = 'mail.records.example. has no addresses, and MX records must name a host'
    expect(answer.body.error).toContain(`) would no longer be right: ${why}`)
  })

  test('a tenant writes in the zones that it was given, and nowhere else', async () => {
    for (const [by, name] of [
      [zenith, 'acme.example.'],
      [acme, 'nobody.example.'],
    ] as const) {
      const answer = await made({ ...text(), zone: name }, by)
      expect(answer.status).toBe(400)
      expect(answer.body.error).toContain(`the zone ${name} is not given to tenant`)
    }
    // The tenant `default` has the zones of which the settings say nothing.
    expect((await made({ ...text(), zone: 'nobody.example.' }, rootKey)).status).toBe(201)
  })

  test("other tenants' records do not exist", async () => {
    const { id } = (await made(text())).body
    const ask = (method: string, body?: object) => call(zenith, method, `/records/${id}`, body)
    const answers = [
      await ask('GET'),
      await ask('PUT', { values: ['"x"'] }),
      await ask('PATCH', { ttl: 1 }),
      await ask('DELETE'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    const { list } = await call(zenith, 'GET', '/records')
    expect(list.map((one) => one.id)).not.toContain(id)
  })

  test('PUT takes what GET gave, and keeps what a record set is', async () => {
    const { id: _id, ...whole } = (await made(text())).body as unknown as Record<string, unknown>
    const path = `/records/${_id as string}`
    const same = await call(acme, 'PUT', path, { ...whole, values: ['"b"', '"a"'], ttl: 60 })
    expect(same.body).toEqual({ id: _id, ...whole, values: ['"b"', '"a"'], ttl: 60 })
    const left = await call(acme, 'PUT', path, { values: ['"a"'] })
    expect(left.body).toMatchObject({ ttl: 3_600, values: ['"a"'] })
    for (const other of [{ name: 'other' }, { type: 'A' }, { zone: 'acme.example.' }]) {
      const answer = await call(acme, 'PATCH', path, other)
      expect([answer.status, answer.body.error]).toEqual([
        400,
        expect.stringMatching(/^\w+: this is .*, and it cannot change; create another record/),
      ])
    }
  })

  test('PATCH changes what it names; null takes the TTL back to that of the file', async () => {
    const { id } = (await made(text())).body
    const shorter = await call(acme, 'PATCH', `/records/${id}`, { ttl: 5 })
    expect(shorter.body).toMatchObject({ ttl: 5, values: ['"some text"'] })
    const back = await call(acme, 'PATCH', `/records/${id}`, { ttl: null })
    expect(back.body).toMatchObject({ ttl: 3_600 })
    const stale = await call(
      acme,
      'PATCH',
      `/records/${id}`,
      { ttl: 6 },
      {
        'if-match': shorter.headers['etag']!,
      },
    )
    expect(stale.status).toBe(412)
  })

  test('a file goes with its last record set, and not before', async () => {
    const made = await world.ports.configWriter.write({
      requestId: 'by-hand',
      actor: { name: 'ann', address: 'ann@users.gslbd' },
      operations: [
        {
          verb: 'create',
          kind: 'Records',
          tenant: 'acme',
          name: 'several',
          spec: {
            zone,
            ttl: 300,
            records: [
              { name: 'one', type: 'A', values: ['192.0.2.1'] },
              { name: 'two', type: 'A', values: ['192.0.2.2'] },
            ],
          },
        },
      ],
    })
    expect(made.ok).toBe(true)
    expect(fileOf('several.yaml')).not.toMatch(/- .*uid|^ {6}uid/m)
    const { list } = await call(acme, 'GET', `/records?name=two.${zone}`)
    expect(list).toMatchObject([{ ttl: 300 }])
    await call(acme, 'DELETE', `/records/${list[0]!.id}`)
    expect(fileOf('several.yaml')).toMatch(/name: one/)
    const [one] = (await call(acme, 'GET', `/records?name=one.${zone}`)).list
    expect((await call(acme, 'DELETE', `/records/${one!.id}`)).status).toBe(204)
    expect(files()).not.toContain('tenants/acme/records/several.yaml')
    expect(world.git('log', '-1', '--format=%s', 'main')).toBe(
      'api: delete RecordSet one A of several',
    )
  })

  test('a dry run makes all checks and no commit', async () => {
    const before = world.git('rev-parse', 'main')
    const sent = text()
    expect((await call(acme, 'POST', '/records?dryRun=true', sent)).status).toBe(201)
    const wrong = await call(acme, 'POST', '/records?dryRun=true', { ...sent, type: 'A' })
    expect(wrong.status).toBe(400)
    expect(world.git('rev-parse', 'main')).toBe(before)
  })
})

const comes = async (zone: string) => {
  const soa = { serial: 1, refresh: 3_600, retry: 600, expire: 86_400 }
  const set = { name: 'www', type: 'A', values: ['192.0.2.80'] }
  const spec = { zone, transfer: { soa, expired: true }, records: [set] }
  const name = `${zone}in`
  const written = await world.ports.configWriter.write({
    ...{ requestId: zone, actor: { name: 'gslbd', address: 'node@gslbd' } },
    operations: [{ verb: 'create', kind: 'Records', tenant: 'acme', name, spec }],
  })
  expect(written.ok).toBe(true)
  const [came] = (await call(acme, 'GET', `/records?name=www.${zone}`)).list
  return {
    id: (came as { readonly id: string }).id,
    path: `main:tenants/acme/records/${name}.yaml`,
  }
}

test('what came by zone transfer is not changed here, and something may lie over it', async () => {
  const { id, path } = await comes('moving.example.')
  const set = { name: 'www', type: 'A' }
  // Lines of JSON: nobody edits them, and there may be many.
  expect(world.git('show', path)).toContain('\n{"name":"www","type":"A","values":["192.0.2.80"]}')
  const body = { values: ['192.0.2.1'] }
  for (const [verb, sent] of [
    ['PATCH', body],
    ['DELETE', undefined],
  ] as const) {
    const refused = await call(acme, verb, `/records/${id}`, sent)
    expect([verb, refused.body, refused.status]).toEqual([verb, expect.anything(), 403])
    expect(JSON.stringify(refused.body)).toContain('change it on its primary server')
  }
  const over = { ...set, zone: 'moving.example.', values: ['198.51.100.1'] }
  const own = await made(over)
  expect(own.status).toBe(201)
  expect(own.body['id']).not.toBe(id)
  expect((await call(acme, 'GET', '/records?name=www.moving.example.')).list).toHaveLength(2)
  expect((await call(acme, 'DELETE', `/records/${String(own.body['id'])}`)).status).toBe(204)
  expect((await call(acme, 'GET', `/records/${id}`)).status).toBe(200)
})

test('what came by zone transfer is changed here once its zone has no `from`', async () => {
  const { id, path } = await comes('acme.example.')
  const changed = await call(acme, 'PATCH', `/records/${id}`, { values: ['192.0.2.1'] })
  expect(changed).toMatchObject({ status: 200, body: { values: ['192.0.2.1'] } })
  expect(world.git('show', path)).toContain('192.0.2.1')
  expect((await call(acme, 'DELETE', `/records/${id}`)).status).toBe(204)
})
