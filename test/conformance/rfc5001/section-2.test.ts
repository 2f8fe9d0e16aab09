// RFC 5001: the name server says who it is, when it was told and is asked.
import { describe, expect, test } from 'vitest'
import { OptionCode } from '#test/support/dns/codes.ts'
import type { EdnsOption, Message } from '#test/support/dns/message.ts'
import { useSubject } from '#test/support/subject.ts'

const nsid: EdnsOption = { code: OptionCode.NSID, data: Buffer.alloc(0) }
const namesOf = (reply: Message): string[] => {
  const options = reply.opt?.options.filter(({ code }) => code === OptionCode.NSID) ?? []
  return options.map(({ data }) => data.toString())
}

describe('a node with an identifier', () => {
  const subject = useSubject({ nsid: 'fra1.example' })

  for (const question of ['www.example.org. A', 'no.example.org. A', 'www.elsewhere.test. A']) {
    test(`says it when it is asked, over UDP and TCP: ${question}`, async () => {
      for (const tcp of [false, true]) {
        const reply = await subject.ask(question, { tcp, opt: { options: [nsid] } })
        expect(namesOf(reply)).toEqual(['fra1.example'])
      }
    })
  }

  test('does not say it unasked', async () => {
    expect(namesOf(await subject.ask('www.example.org. A', { opt: {} }))).toEqual([])
  })

  test('says it once when it is asked twice', async () => {
    const reply = await subject.ask('www.example.org. A', { opt: { options: [nsid, nsid] } })
    expect(namesOf(reply)).toEqual(['fra1.example'])
  })

  test('keeps room for it in a reply that is truncated', async () => {
    const reply = await subject.ask('huge.example. NS', { opt: { options: [nsid] } })
    expect(reply.tc).toBe(true)
    expect(namesOf(reply)).toEqual(['fra1.example'])
  })

  test('takes data in the question for a malformed option', async () => {
    const options = [{ ...nsid, data: Buffer.from('x') }]
    const reply = await subject.ask('www.example.org. A', { opt: { options } })
    expect(reply.rcode).toBe(1)
    expect(reply.opt).toBeDefined()
  })
})

describe('a node without an identifier', () => {
  const subject = useSubject()

  test('answers as if it had not been asked', async () => {
    const reply = await subject.ask('www.example.org. A', { opt: { options: [nsid] } })
    expect(reply.rcode).toBe(0)
    expect(reply.opt?.options).toEqual([])
  })
})
