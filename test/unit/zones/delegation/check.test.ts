import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { delegationLimits } from '#zones/delegation/limits.ts'
import type { DomainFault } from '#state/ports/domains.ts'
import {
  DelegationWorld,
  childOf,
  parentOf,
  record,
  records,
} from '#test/support/dns/delegation-world.ts'
import type { Handler } from '#test/support/dns/delegation-world.ts'

const [root, parent, second, ns1, ns2] = [2, 3, 4, 5, 6].map((i) => `127.0.0.${i}`) as [
  ...[string, string, string, string, string],
]
const domain = 'shop.test.'
const nameservers = [
  { name: 'ns1.shop.test.', addresses: [ns1] },
  { name: 'ns2.shop.test.', addresses: [ns2] },
]
const names = nameservers.map(({ name }) => name)
const wanted = { domain, nameservers, ds: [] as readonly string[] }
const glue = [`ns1.shop.test. A ${ns1}`, `ns2.shop.test. A ${ns2}`]
const toTest = parentOf({
  'test.': { ns: ['a.nic.test.'], glue: [`a.nic.test. A ${parent}`] },
})
const toShop = parentOf({ [domain]: { ns: names, glue } })
const digest = `0001 0d 02 ${'ab'.repeat(32)}`
const digestText = `1 13 2 ${'ab'.repeat(32).toUpperCase()}`

let world: DelegationWorld
beforeEach(async () => {
  world = await DelegationWorld.make()
  await world.serve(root, toTest)
  await world.serve(parent, toShop)
  await world.serve(ns1, childOf(domain, ...names))
  await world.serve(ns2, childOf(domain, ...names))
})
afterEach(() => world.close())

const codesOf = async (want = wanted): Promise<readonly [boolean, ...(DomainFault | '')[]]> => {
  const { nsOk, checks } = await world.check(want)
  return [nsOk, ...checks.map(({ code }) => code)]
}

test('a good delegation is found from the root, and each server is told', async () => {
  const found = await world.check(wanted)
  expect(found).toMatchObject({ domain, nsOk: true, dsOk: false, dsExpected: false, error: '' })
  const fine = { ns: names, ds: [], code: '', error: '', atMs: expect.any(Number) as number }
  expect(found.checks).toEqual([
    { role: 'parent', server: 'a.nic.test.', address: parent, ...fine },
    { role: 'nameserver', server: names[0], address: ns1, ...fine },
    { role: 'nameserver', server: names[1], address: ns2, ...fine },
  ])
})

describe('a parent that', () => {
  const rows: readonly [string, Handler, DomainFault][] = [
    ['knows no such name', () => ({ aa: true, rcode: 3 }), 'no-delegation'],
    ['has other records only', () => ({ aa: true }), 'no-delegation'],
    [
      'names a server less',
      parentOf({ [domain]: { ns: [names[0]!], glue: [glue[0]!] } }),
      'ns-mismatch',
    ],
    [
      'names a server more',
      parentOf({ [domain]: { ns: [...names, 'ns1.old.test.'], glue } }),
      'ns-mismatch',
    ],
    [
      'has no address of a server inside',
      parentOf({ [domain]: { ns: names, glue: [glue[0]!] } }),
      'missing-glue',
    ],
    [
      'has an old address of a server',
      parentOf({ [domain]: { ns: names, glue: [glue[0]!, `ns2.shop.test. A ${second}`] } }),
      'glue-mismatch',
    ],
    [
      'has a DS of an unsigned zone',
      parentOf({ [domain]: { ns: names, glue, ds: digest } }),
      'ds-unexpected',
    ],
  ]
  test.each(rows)('%s is told so', async (_what, handler, code) => {
    await world.serve(parent, handler)
    const found = await world.check(wanted)
    expect(found.checks[0]).toMatchObject({ role: 'parent', server: 'a.nic.test.', code })
    expect(found.checks[0]!.error).toMatch(/^a\.nic\.test\. /)
    expect(found.error).toBe(found.checks[0]!.error)
    // A DS is no matter of NS records.
    expect([found.nsOk, found.dsOk]).toEqual([code === 'ds-unexpected', false])
  })

  const silent: readonly [string, Handler, DomainFault][] = [
    ['does not answer', () => undefined, 'parent-unknown'],
    ['refuses', () => ({ rcode: 5 }), 'parent-unknown'],
    ['answers garbage', () => Buffer.alloc(60, 0xff), 'parent-unknown'],
    ['has another id', ({ id }) => ({ id: id ^ 1, aa: true }), 'parent-unknown'],
    ['sends us back to the root', () => ({ authority: records('. NS a.root.') }), 'parent-unknown'],
    [
      'sends us to itself',
      () => ({
        authority: records('test. NS a.nic.test.'),
        additional: records(`a.nic.test. A ${parent}`),
      }),
      'parent-unknown',
    ],
    [
      'sends us to a zone beside the domain',
      () => ({ authority: records('bank.test. NS a.nic.test.') }),
      'parent-unknown',
    ],
    ['cuts its answer and has no more over TCP', () => ({ tc: true }), 'parent-unknown'],
  ]
  test.each(silent)('%s costs bounded time, and is named', async (_what, handler, code) => {
    world.expectSilence()
    await world.serve(parent, handler)
    const found = await world.check(wanted)
    expect([found.nsOk, found.checks.map((one) => one.code)]).toEqual([false, [code]])
    expect(found.error).toContain('the domain is below test., of which no server helps')
  })

  test('cuts its answer over UDP is asked over TCP', async () => {
    await world.serve(parent, (query, isTcp) => (isTcp ? toShop(query, true) : { tc: true }))
    expect(await codesOf()).toEqual([true, '', '', ''])
    expect(world.asked.filter((one) => one.endsWith(' tcp'))).not.toEqual([])
  })

  test('leaves glue out of an answer over UDP without a word is asked over TCP', async () => {
    const bare = parentOf({ [domain]: { ns: names } })
    await world.serve(parent, (query, isTcp) => (isTcp ? toShop : bare)(query, isTcp))
    expect(await codesOf()).toEqual([true, '', '', ''])
    world.expectSilence()
    await world.serve(parent, (query, isTcp) => (isTcp ? undefined : bare(query, isTcp)))
    expect(await codesOf()).toEqual([false, 'missing-glue', 'no-address', 'no-address'])
  })

  test('knows no EDNS is asked without', async () => {
    await world.serve(parent, (query) =>
      query.opt === undefined ? toShop(query, false) : { rcode: 1 },
    )
    expect(await codesOf()).toEqual([true, '', '', ''])
  })

  test('is two servers that say two things is told for each', async () => {
    const ns = ['a.nic.test.', 'b.nic.test.']
    const addresses = [`a.nic.test. A ${parent}`, `b.nic.test. A ${second}`]
    await world.serve(root, parentOf({ 'test.': { ns, glue: addresses } }))
    await world.serve(second, () => ({ aa: true, rcode: 3 }))
    expect(await codesOf()).toEqual([false, '', 'no-delegation', '', ''])
    // A silent server decides nothing while the other one answers.
    world.expectSilence()
    await world.serve(second, () => undefined)
    expect(await codesOf()).toEqual([true, '', 'no-answer', '', ''])
  })

  test('has 2,000 records costs no more than others', async () => {
    const many = Array.from({ length: 2_000 }, (_, i) => record(`x${i}.test. A 192.0.2.1`))
    await world.serve(parent, (_query, isTcp) => (isTcp ? { additional: many } : { tc: true }))
    expect(await codesOf()).toEqual([false, 'parent-unknown'])
  })
})

describe('a name server that', () => {
  const rows: readonly [string, Handler, boolean, DomainFault][] = [
    ['refuses the domain', () => ({ rcode: 5 }), false, 'lame'],
    ['fails', () => ({ rcode: 2 }), false, 'lame'],
    [
      'has it from a cache',
      () => ({ answer: records(`${domain} NS ns1.shop.test.`) }),
      false,
      'lame',
    ],
    ['refers us upward', () => ({ authority: records('. NS a.root.') }), false, 'lame'],
    ['is authoritative for something above', () => ({ aa: true }), false, 'lame'],
    // The server may be away for a moment while the other one serves.
    ['does not answer', () => undefined, true, 'no-answer'],
    ['answers garbage', () => Buffer.alloc(60, 0xff), true, 'bad-answer'],
  ]
  test.each(rows)('%s is told from one without glue', async (_what, handler, nsOk, code) => {
    if (nsOk) world.expectSilence()
    await world.serve(ns2, handler)
    expect(await codesOf()).toEqual([nsOk, '', '', code])
    const { error } = await world.check(wanted)
    expect(error).toMatch(/^ns2\.shop\.test\. /)
  })

  test('is silent like all others is no delegation that works', async () => {
    world.expectSilence()
    await world.serve(ns1, () => undefined)
    await world.serve(ns2, () => undefined)
    expect(await codesOf()).toEqual([false, '', 'no-answer', 'no-answer'])
  })

  test('is in another domain is looked up from the root', async () => {
    const outside = { ...wanted, nameservers: [{ name: 'ns.host.test.', addresses: [] }] }
    await world.serve(
      parent,
      parentOf({
        [domain]: { ns: ['ns.host.test.'] },
        'host.test.': { ns: ['ns0.host.test.'], glue: [`ns0.host.test. A ${second}`] },
      }),
    )
    await world.serve(second, ({ questions: [question] }) => ({
      aa: true,
      answer: question!.type === 1 ? records(`ns.host.test. A ${ns1}`) : [],
    }))
    await world.serve(ns1, childOf(domain, 'ns.host.test.'))
    expect(await codesOf(outside)).toEqual([true, '', ''])
  })

  test('can be found only through itself has no address', async () => {
    const round = { ...wanted, nameservers: [{ name: 'ns.b.test.', addresses: [] }] }
    await world.serve(
      parent,
      parentOf({
        [domain]: { ns: ['ns.b.test.'] },
        'b.test.': { ns: ['ns.c.test.'] },
        'c.test.': { ns: ['ns.b.test.'] },
      }),
    )
    expect(await codesOf(round)).toEqual([false, '', 'no-address'])
    expect(world.asked.length).toBeLessThan(delegationLimits.questionsMax)
  })
})

describe('the DS records of a signed zone', () => {
  const signed = { ...wanted, ds: [digestText] }
  const rows: readonly [string, string | undefined, boolean, DomainFault | ''][] = [
    ['the DS of a key', digest, true, ''],
    ['no DS', undefined, false, 'ds-missing'],
    ['the DS of another key', `0002 0d 02 ${'ab'.repeat(32)}`, false, 'ds-mismatch'],
  ]
  test.each(rows)('the parent has %s', async (_what, ds, dsOk, code) => {
    await world.serve(parent, parentOf({ [domain]: { ns: names, glue, ...(ds && { ds }) } }))
    const found = await world.check(signed)
    expect(found).toMatchObject({ nsOk: true, dsOk, dsExpected: true })
    expect(found.checks[0]).toMatchObject({
      code,
      ds: ds === undefined ? [] : [expect.any(String)],
    })
  })
})

test.each([
  ['a DS', digest, true],
  ['none', undefined, false],
])('the parent of a zone that is signed by keys elsewhere may have %s', async (_what, ds, dsOk) => {
  await world.serve(parent, parentOf({ [domain]: { ns: names, glue, ...(ds && { ds }) } }))
  const found = await world.check({ ...wanted, ds: null })
  expect(found).toMatchObject({ nsOk: true, dsOk, dsExpected: true, error: '' })
})

test('addresses of this machine are not asked where the settings do not permit it', async () => {
  const found = await world.check(wanted, false)
  expect(found.nsOk).toBe(false)
  expect(world.asked).toEqual([])
  expect(found.error).toContain('has a loopback address, 127.0.0.2, which is not asked')
})

test('a root that leads ever deeper ends after so many steps', async () => {
  const deep = `${Array.from({ length: 60 }, () => 'a').join('.')}.test.`
  const labels = deep.split('.')
  let step = 1
  await world.serve(root, () => {
    const zone = labels.slice(-1 - ++step).join('.')
    return { authority: records(`${zone} NS n.test.`), additional: records(`n.test. A ${root}`) }
  })
  const found = await world.check({ ...wanted, domain: deep })
  expect([found.nsOk, found.error]).toEqual([false, 'the domain is reached by too many referrals'])
  // A question that waits long is sent once more, which leads deeper at once.
  expect(world.asked.length).toBeLessThanOrEqual(2 * delegationLimits.referralsMax)
})
