// RFC 6891 sections 6.1 and 7: the OPT record in queries and replies.
import { describe, expect, test } from 'vitest'
import { exchangeUdp } from '#test/support/dns/client.ts'
import { decodeMessage, encodeOpt, query } from '#test/support/dns/message.ts'
import { useSubject } from '#test/support/subject.ts'

const subject = useSubject()

/** A query with whole OPT records behind it, right or wrong. */
async function askWith(...opts: readonly Buffer[]): ReturnType<typeof subject.ask> {
  const bytes = Buffer.concat([query('www.example.org. A'), ...opts])
  bytes.writeUInt16BE(opts.length, 10)
  return decodeMessage(await exchangeUdp(subject.endpoint(), bytes))
}

describe('OPT is in the reply exactly when it was in the query', () => {
  const questions: readonly [question: string, rcode: number][] = [
    ['www.example.org. A', 0],
    ['www.example.org. AAAA', 0],
    ['no.example.org. A', 3],
    ['www.elsewhere.test. A', 5],
    ['example.org. AXFR', 5],
    ['www.example.org. MAILB', 4],
    ['www.example.org. OPT', 1],
  ]
  for (const [question, rcode] of questions) {
    test(question, async () => {
      const withOpt = await subject.ask(question, { opt: {} })
      expect(withOpt).toMatchObject({
        rcode,
        opt: { version: 0, flags: 0, options: withOpt.opt?.options },
      })
      expect(await subject.ask(question)).toMatchObject({ rcode, opt: undefined })
    })
  }
})

describe('a query with OPT gets OPT even in an error', () => {
  const question = { name: 'www.example.org.', type: 1, class: 1 }
  const rows: readonly [title: string, header: object, rcode: number][] = [
    ['an unknown opcode', { opcode: 14 }, 4],
    ['an UPDATE without a signature', { opcode: 5 }, 5],
    ['no question', { questions: [] }, 1],
    ['two questions', { questions: [question, question] }, 1],
  ]
  for (const [title, header, rcode] of rows) {
    test(title, async () => {
      const withOpt = await subject.ask('www.example.org. A', { ...header, opt: {} })
      expect(withOpt).toMatchObject({ rcode, opt: { version: 0, flags: 0 }, answer: [] })
      const without = await subject.ask('www.example.org. A', header)
      expect(without).toMatchObject({ rcode, opt: undefined, answer: [] })
    })
  }
})

describe('a malformed OPT', () => {
  test('two OPT records are FORMERR', async () => {
    expect(await askWith(encodeOpt({}), encodeOpt({}))).toMatchObject({ rcode: 1, answer: [] })
  })

  test('an OPT that the root does not own is FORMERR', async () => {
    expect(await askWith(encodeOpt({}, 'example.org.'))).toMatchObject({ rcode: 1, answer: [] })
  })

  test('an option cut inside its header is FORMERR', async () => {
    const opt = Buffer.concat([encodeOpt({}).subarray(0, 9), Buffer.from([0, 3, 0, 3, 0])])
    expect(await askWith(opt)).toMatchObject({ rcode: 1, answer: [] })
  })

  test('an OPT in the answer section is no OPT', async () => {
    const bytes = Buffer.concat([query('www.example.org. A'), encodeOpt({})])
    bytes.writeUInt16BE(1, 6)
    const reply = decodeMessage(await exchangeUdp(subject.endpoint(), bytes))
    expect(reply).toMatchObject({ rcode: 0, opt: undefined })
  })
})

describe('options', () => {
  test('that are unknown are ignored and not echoed', async () => {
    const options = [4, 100, 26_946, 65_001, 65_535].map((code) => ({
      code,
      data: Buffer.from('abc'),
    }))
    const reply = await subject.ask('www.example.org. A', { opt: { options } })
    expect(reply.rcode).toBe(0)
    expect(reply.answer.length).toBe(1)
    expect(reply.opt?.options).toEqual([])
  })

  test('a thousand octets of padding change nothing', async () => {
    const options = [{ code: 12, data: Buffer.alloc(1_000) }]
    const reply = await subject.ask('www.example.org. A', { opt: { options } })
    expect(reply.answer.length).toBe(1)
  })
})

describe('sizes', () => {
  test('a client that takes fewer than 512 octets is held to take 512', async () => {
    for (const udpSize of [0, 1, 511]) {
      const reply = await subject.ask('example.org. NS', { opt: { udpSize } })
      expect(reply).toMatchObject({ rcode: 0, tc: false })
      expect(reply.answer.length).toBe(2)
    }
    expect((await subject.ask('big.example. NS', { opt: { udpSize: 100 } })).tc).toBe(true)
  })

  test('the size that the client takes does not limit TCP', async () => {
    const reply = await subject.ask('huge.example. NS', { tcp: true, opt: { udpSize: 512 } })
    expect(reply.tc).toBe(false)
    expect(reply.answer.length).toBe(24)
  })
})
