// RFC 7871: the client-subnet option, checked and answered with the scope that was used: none.
import { describe, expect, test } from 'vitest'
import { ecs, ecsOf } from '#test/support/dns/ecs.ts'
import type { EdnsOption } from '#test/support/dns/message.ts'
import { OptionCode } from '#test/support/dns/codes.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

describe('section 7.2.1: the option comes back as it was sent, with scope 0', () => {
  const options: readonly [title: string, family: number, source: number, address: string][] = [
    ['an IPv4 /24', 1, 24, 'c63364'],
    ['an IPv4 /32', 1, 32, 'c6336401'],
    ['an IPv4 /20, whose last octet is half used', 1, 20, 'c63360'],
    ['an IPv4 /1', 1, 1, '80'],
    ['an IPv4 /0: the client opts out', 1, 0, ''],
    ['no family and no address: the client opts out', 0, 0, ''],
    ['an IPv6 /56', 2, 56, '20010db8000001'],
    ['an IPv6 /128', 2, 128, '20010db8000000000000000000000001'],
    ['an IPv6 /0', 2, 0, ''],
  ]
  for (const [title, family, source, address] of options) {
    test(title, async () => {
      for (const tcp of [false, true]) {
        const opt = { options: [ecs(family, source, 0, address)] }
        const reply = await subject.ask('www.example.org. A', { tcp, opt })
        expect(reply.rcode).toBe(0)
        expect(ecsOf(reply.opt)).toEqual({ family, source, scope: 0, address })
      }
    })
  }
})

describe('section 6: an option that breaks the rules is FORMERR', () => {
  const broken: readonly [title: string, option: EdnsOption][] = [
    ['an unknown family', ecs(3, 8, 0, 'c6')],
    ['no family, with an address', ecs(0, 8, 0, 'c6')],
    ['a source longer than an IPv4 address', ecs(1, 33, 0, 'c633640100')],
    ['a source longer than an IPv6 address', ecs(2, 129, 0, `${'20'.repeat(17)}`)],
    ['a scope in a query', ecs(1, 24, 24, 'c63364')],
    ['an address too short for its source', ecs(1, 24, 0, 'c633')],
    ['an address too long for its source', ecs(1, 24, 0, 'c6336401')],
    ['bits beyond the source', ecs(1, 20, 0, 'c63364')],
    ['one bit beyond the source', ecs(1, 31, 0, 'c6336401')],
    ['no address and no source', { code: OptionCode.ECS, data: Buffer.from([0, 1]) }],
    ['nothing at all', { code: OptionCode.ECS, data: Buffer.alloc(0) }],
  ]
  for (const [title, option] of broken) {
    test(title, async () => {
      const reply = await subject.ask('www.example.org. A', { opt: { options: [option] } })
      expect(reply).toMatchObject({ rcode: 1, answer: [] })
      expect(reply.opt).toBeDefined()
    })
  }

  test('the option twice', async () => {
    const option = ecs(1, 24, 0, 'c63364')
    const reply = await subject.ask('www.example.org. A', { opt: { options: [option, option] } })
    expect(reply.rcode).toBe(1)
  })
})

describe('section 7.4: other replies', () => {
  for (const question of ['www.example.org. AAAA', 'no.example.org. A', 'huge.example. NS']) {
    test(`scope 0 with ${question}`, async () => {
      const opt = { options: [ecs(1, 24, 0, 'c63364')] }
      const reply = await subject.ask(question, { opt })
      expect(ecsOf(reply.opt)).toEqual({ family: 1, source: 24, scope: 0, address: 'c63364' })
    })
  }
})

test('a query without the option gets none back', async () => {
  expect(ecsOf((await subject.ask('www.example.org. A', { opt: {} })).opt)).toBeUndefined()
})

test('the answer does not depend on the subnet', async () => {
  for (const address of ['000000', '7f0000', 'c0a800', 'ffffff']) {
    const opt = { options: [ecs(1, 24, 0, address)] }
    const reply = await subject.ask('www.example.org. A', { opt })
    expect(reply.answer.map(({ rdataText }) => rdataText)).toEqual(['192.0.2.1'])
  }
})
