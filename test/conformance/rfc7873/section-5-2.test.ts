// RFC 7873: what a server makes of cookies, and what it answers where it insists on them.
import { describe, expect, test } from 'vitest'
import { cookieCells, cookieIn, cookieOption } from '#test/support/dns/cookies.ts'
import { useSubject } from '#test/support/subject.ts'
import type { Subject } from '#test/support/subject.ts'

const question = 'www.example.org. A'
const clientCookie = '2464c4abcf10c957'
const Rcode = { NoError: 0, FormErr: 1, BadCookie: 23 } as const
const transports = [
  ['UDP', false],
  ['TCP', true],
] as const

const withCookies = (...cookies: string[]) => ({ opt: { options: cookies.map(cookieOption) } })

async function learn({ ask }: Subject): Promise<string> {
  const cookie = cookieIn(await ask(question, withCookies(clientCookie)))
  if (cookie === undefined) throw new Error('the server gives no cookie')
  return cookie
}

const damaged = (cookie: string): string => `${cookie.slice(0, -2)}00`

for (const threads of [1, 0]) {
  describe(`a server that does not insist, ${threads === 0 ? 'node:dgram' : 'batches'}`, () => {
    const subject = useSubject({ cookies: cookieCells(), threads })

    for (const [transport, tcp] of transports) {
      test(`section 5.2.1: without a cookie the reply has none, ${transport}`, async () => {
        const reply = await subject.ask(question, { tcp, opt: {} })
        expect([reply.rcode, reply.answer.length, cookieIn(reply)]).toEqual([0, 1, undefined])
      })

      test(`section 5.2.3: who has none gets one and an answer, ${transport}`, async () => {
        const reply = await subject.ask(question, { tcp, ...withCookies(clientCookie) })
        expect([reply.rcode, reply.answer.length]).toEqual([Rcode.NoError, 1])
        expect(cookieIn(reply)).toMatch(new RegExp(`^${clientCookie}01000000[0-9a-f]{24}$`))
      })

      test(`section 5.2.4: one that is not valid is as good as none, ${transport}`, async () => {
        const cookie = damaged(await learn(subject))
        const reply = await subject.ask(question, { tcp, ...withCookies(cookie) })
        expect([reply.rcode, reply.answer.length]).toEqual([Rcode.NoError, 1])
        expect(cookieIn(reply)?.slice(0, 16)).toBe(clientCookie)
        expect(cookieIn(reply)).not.toBe(cookie)
      })

      test(`section 5.2.5: a valid one comes back, ${transport}`, async () => {
        const cookie = await learn(subject)
        const reply = await subject.ask(question, { tcp, ...withCookies(cookie) })
        expect([reply.rcode, cookieIn(reply)]).toEqual([Rcode.NoError, cookie])
      })

      for (const octets of [0, 7, 9, 15, 41, 300]) {
        test(`section 5.2.2: ${octets} octets are FORMERR, ${transport}`, async () => {
          const reply = await subject.ask(question, { tcp, ...withCookies('00'.repeat(octets)) })
          expect([reply.rcode, reply.answer.length]).toEqual([Rcode.FormErr, 0])
          expect(reply.opt?.options).toEqual([])
        })
      }

      for (const octets of [16, 23, 25, 40]) {
        test(`section 4: ${octets} octets are another server's cookie, ${transport}`, async () => {
          const cookie = clientCookie + '11'.repeat(octets - 8)
          const reply = await subject.ask(question, { tcp, ...withCookies(cookie) })
          expect([reply.rcode, cookieIn(reply)?.length]).toEqual([Rcode.NoError, 48])
        })
      }

      test(`section 5.2: the first of several counts, ${transport}`, async () => {
        const cookie = await learn(subject)
        const first = await subject.ask(question, { tcp, ...withCookies(cookie, 'ff') })
        expect([first.rcode, first.opt?.options.length]).toEqual([Rcode.NoError, 1])
        expect(cookieIn(first)).toBe(cookie)
        const broken = await subject.ask(question, { tcp, ...withCookies('ff', cookie) })
        expect(broken.rcode).toBe(Rcode.FormErr)
      })

      test(`section 5.4: no question, only a cookie, ${transport}`, async () => {
        const cookie = await learn(subject)
        const rows = [
          [clientCookie, Rcode.NoError],
          [cookie, Rcode.NoError],
          [damaged(cookie), Rcode.BadCookie],
        ] as const
        for (const [sent, rcode] of rows) {
          const asked = { tcp, questions: [], ...withCookies(sent) }
          const reply = await subject.ask('. A', asked)
          expect(reply).toMatchObject({ rcode, aa: false, questions: [], answer: [] })
          expect(cookieIn(reply)?.slice(0, 16)).toBe(clientCookie)
        }
        const bare = await subject.ask('. A', { tcp, questions: [], opt: {} })
        expect(bare.rcode).toBe(Rcode.FormErr)
      })
    }

    test('section 5.2: a truncated reply has a cookie, too', async () => {
      const reply = await subject.ask('huge.example. NS', withCookies(clientCookie))
      expect([reply.tc, cookieIn(reply)?.length]).toEqual([true, 48])
    })

    test('other opcodes and errors have a cookie, too', async () => {
      for (const parts of [{ opcode: 4 }, { opcode: 5 }, { opcode: 2 }]) {
        const reply = await subject.ask(question, { ...parts, ...withCookies(clientCookie) })
        expect(cookieIn(reply)?.length).toBe(48)
      }
      const refused = await subject.ask('www.elsewhere.test. A', withCookies(clientCookie))
      expect([refused.rcode, cookieIn(refused)?.length]).toEqual([5, 48])
    })

    test('another version of EDNS has no cookie: RFC 6891 section 6.1.3', async () => {
      const opt = { version: 1, options: [cookieOption(clientCookie)] }
      const reply = await subject.ask(question, { opt })
      expect([reply.rcode, cookieIn(reply)]).toEqual([16, undefined])
    })
  })
}

describe('a server that insists', () => {
  const subject = useSubject({ cookies: cookieCells({ enforces: true }) })

  test('section 5.2.3: BADCOOKIE with a cookie, and an answer for that one', async () => {
    const refused = await subject.ask(question, withCookies(clientCookie))
    expect(refused).toMatchObject({ rcode: Rcode.BadCookie, aa: false, answer: [], authority: [] })
    expect(refused.questions.length).toBe(1)
    const reply = await subject.ask(question, withCookies(cookieIn(refused)!))
    expect([reply.rcode, reply.answer.length]).toEqual([Rcode.NoError, 1])
  })

  test('section 5.2.4: BADCOOKIE for one that is not valid', async () => {
    const cookie = damaged(await learn(subject))
    expect((await subject.ask(question, withCookies(cookie))).rcode).toBe(Rcode.BadCookie)
  })

  test('section 5.2.1: who knows no cookies is answered', async () => {
    for (const parts of [{}, { opt: {} }]) {
      const reply = await subject.ask(question, parts)
      expect([reply.rcode, reply.answer.length]).toEqual([Rcode.NoError, 1])
    }
  })

  test('TCP shows the address: it is answered without a valid cookie', async () => {
    const reply = await subject.ask(question, { tcp: true, ...withCookies(clientCookie) })
    expect([reply.rcode, reply.answer.length]).toEqual([Rcode.NoError, 1])
  })

  test('a message that is malformed is FORMERR first', async () => {
    const twice = { opt: { options: [cookieOption(clientCookie)] }, questions: [] }
    expect((await subject.ask('. A', twice)).rcode).toBe(Rcode.NoError)
    expect((await subject.ask(question, withCookies('00'.repeat(9)))).rcode).toBe(Rcode.FormErr)
  })
})

describe('a server without cookies', () => {
  const subject = useSubject()

  test('ignores the option, whatever it holds', async () => {
    for (const cookie of [clientCookie, 'ff', '00'.repeat(24)]) {
      const reply = await subject.ask(question, withCookies(cookie))
      expect([reply.rcode, reply.answer.length, cookieIn(reply)]).toEqual([0, 1, undefined])
    }
  })
})
