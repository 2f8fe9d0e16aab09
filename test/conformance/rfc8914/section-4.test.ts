// RFC 8914: extended errors, which say more than the response code and change nothing else.
import { expect, test } from 'vitest'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { OptionCode } from '#test/support/dns/codes.ts'
import type { Message } from '#test/support/dns/message.ts'
import { negativeSoa, nodata, said } from '#test/support/dns/said.ts'
import { generation, publish } from '#test/support/node-under-test.ts'
import { rule } from '#test/support/response-rules.ts'
import { startedNode } from '#test/support/started-node.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()
const codesOf = (reply: Message): number[] => {
  const options = reply.opt?.options.filter(({ code }) => code === OptionCode.EDE) ?? []
  return options.map(({ data }) => data.readUInt16BE(0))
}

test('4.21: REFUSED outside our zones says Not Authoritative', async () => {
  const reply = await subject.ask('www.elsewhere.test. A', { opt: {} })
  expect([reply.rcode, codesOf(reply)]).toEqual([5, [20]])
})

test('4.1: a service whose members are all out says Other, with a text', async () => {
  const reply = await subject.ask('down.example.org. A', { opt: {} })
  expect(said(reply)).toEqual(nodata(negativeSoa.exampleOrg))
  const [option] = reply.opt?.options ?? []
  expect(option?.code).toBe(OptionCode.EDE)
  expect(option?.data).toEqual(
    Buffer.concat([Buffer.from([0, 0]), Buffer.from('no healthy member')]),
  )
})

test('4.16: NXDOMAIN of a response rule says Blocked', async () => {
  const key = newSigningKey()
  const { node, port } = await startedNode({ trusted: key })
  const responseRules = [rule(1, 'domain', 'bad.example.')]
  await node.activate(publish(key, { ...generation(1), responseRules }, { seq: 1 }))
  const reply = await ask({ host: '127.0.0.1', port }, 'www.bad.example. A', { opt: {} })
  expect([reply.rcode, codesOf(reply)]).toEqual([3, [15]])
})

test('a client without EDNS is told nothing more', async () => {
  const reply = await subject.ask('www.elsewhere.test. A')
  expect([reply.rcode, reply.opt]).toEqual([5, undefined])
})

test('a good answer, a denial and a type without records carry no extended error', async () => {
  for (const question of ['www.example.org. A', 'no.example.org. A', 'www.example.org. AAAA']) {
    expect(codesOf(await subject.ask(question, { opt: {} }))).toEqual([])
  }
})

test('an extended error in a query is ignored', async () => {
  const options = [{ code: OptionCode.EDE, data: Buffer.from([0, 18]) }]
  const reply = await subject.ask('www.example.org. A', { opt: { options } })
  expect([reply.rcode, codesOf(reply)]).toEqual([0, []])
})
