// Any octets as a COOKIE option, from any address: what the reply must be like.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Transport } from '#answer/transaction.ts'
import { createAnswerer } from '#test/support/dns/answerer.ts'
import { cookieCells, cookieIn, cookieOption } from '#test/support/dns/cookies.ts'
import { conformanceConfig } from '#test/support/dns/fixture.ts'
import { decodeMessage, query } from '#test/support/dns/message.ts'
import type { Message } from '#test/support/dns/message.ts'
import { laneCount } from '#test/support/lane.ts'

const numRuns = laneCount(2_000)
const cookies = cookieCells()
const plain = createAnswerer(conformanceConfig, { cookies })
const strict = createAnswerer(conformanceConfig, { cookies: cookieCells({ enforces: true }) })
const question = 'www.example.org. A'

function ask(cookie: Uint8Array | undefined, answerer = plain, tcp = false): Message {
  const options = cookie === undefined ? [] : [cookieOption(Buffer.from(cookie).toString('hex'))]
  const octets = query(question, { opt: { options } })
  const reply = answerer.ask(octets, tcp ? Transport.Tcp : Transport.Udp)
  return decodeMessage(reply!)
}

const lengths = fc.oneof(fc.constantFrom(8, 16, 24, 40), fc.nat(80))
const octets = lengths.chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
const isCookie = ({ length }: Uint8Array): boolean => length === 8 || (length >= 16 && length <= 40)

describe('any octets as a cookie', () => {
  test('are FORMERR by their length, or the reply has the client’s and one that is valid', () => {
    fc.assert(
      fc.property(octets, fc.boolean(), (cookie, tcp) => {
        const reply = ask(cookie, plain, tcp)
        expect(reply.rcode).toBe(isCookie(cookie) ? 0 : 1)
        if (!isCookie(cookie)) return
        const back = Buffer.from(cookieIn(reply)!, 'hex')
        expect(back.length).toBe(24)
        expect(back.subarray(0, 8)).toEqual(Buffer.from(cookie.subarray(0, 8)))
        // The one that was made is valid, and comes back as it is.
        expect(ask(back, strict).rcode).toBe(0)
        expect(cookieIn(ask(back, strict))).toBe(back.toString('hex'))
      }),
      { numRuns },
    )
  })

  test('change nothing of the answer, and are not valid by chance', () => {
    const { answer } = ask(undefined)
    fc.assert(
      fc.property(octets.filter(isCookie), (cookie) => {
        expect(ask(cookie).answer).toEqual(answer)
        expect(ask(cookie, strict).rcode).toBe(23)
      }),
      { numRuns },
    )
  })

  test('of one client never go to another', () => {
    fc.assert(
      fc.property(fc.array(octets.filter(isCookie), { maxLength: 5 }), (cookiesBefore) => {
        for (const cookie of cookiesBefore) ask(cookie)
        expect(cookieIn(ask(undefined))).toBeUndefined()
        const mine = Buffer.from('0102030405060708', 'hex')
        expect(cookieIn(ask(mine))?.slice(0, 16)).toBe('0102030405060708')
      }),
      { numRuns: Math.ceil(numRuns / 4) },
    )
  })
})
