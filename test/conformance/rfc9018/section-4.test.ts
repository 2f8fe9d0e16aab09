// RFC 9018: cookies of one client are valid at every server that has the secret, and nowhere else.
import { expect, test } from 'vitest'
import { cookieCells, cookieIn, cookieOption, secretOfRfc } from '#test/support/dns/cookies.ts'
import { useSubject } from '#test/support/subject.ts'

const question = 'www.example.org. A'
const nowSeconds = 1_559_731_985
const other = '00112233445566778899aabbccddeeff'

const maker = useSubject({ cookies: cookieCells() })
const enforces = true
const same = useSubject({ cookies: cookieCells({ enforces, nowSeconds: nowSeconds + 60 }) })
const rolled = useSubject({ cookies: cookieCells({ enforces, secrets: [other, secretOfRfc] }) })
const stranger = useSubject({ cookies: cookieCells({ enforces, secrets: [other] }) })
const later = useSubject({ cookies: cookieCells({ enforces, nowSeconds: nowSeconds + 2_000 }) })
const muchLater = useSubject({ cookies: cookieCells({ enforces, nowSeconds: nowSeconds + 3_700 }) })
const earlier = useSubject({ cookies: cookieCells({ enforces, nowSeconds: nowSeconds - 299 }) })
const tooEarly = useSubject({ cookies: cookieCells({ enforces, nowSeconds: nowSeconds - 400 }) })

const rows = [
  ['another node with the secret', same, 0, true],
  ['a node that makes them with the next secret', rolled, 0, false],
  ['a node that has another secret', stranger, 23, false],
  ['section 4.3: after more than half an hour', later, 0, false],
  ['section 4.3: after more than an hour', muchLater, 23, false],
  ['section 4.3: a node whose clock is five minutes behind', earlier, 0, true],
  ['section 4.3: a node whose clock is further behind', tooEarly, 23, false],
] as const

for (const [is, subject, rcode, comesBack] of rows) {
  const found = `${rcode === 0 ? 'valid' : 'not valid'}, ${comesBack ? 'kept' : 'renewed'}`
  test(`${is}: ${found}`, async () => {
    const cookie = cookieIn(
      await maker.ask(question, { opt: { options: [cookieOption('2464c4abcf10c957')] } }),
    )!
    const reply = await subject.ask(question, { opt: { options: [cookieOption(cookie)] } })
    expect([reply.rcode, cookieIn(reply) === cookie]).toEqual([rcode, comesBack])
    expect(cookieIn(reply)?.slice(0, 16)).toBe('2464c4abcf10c957')
  })
}
