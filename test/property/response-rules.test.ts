// Response rules: for every set of rules and every name, the answer is the one of a plain search.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ResponseRuleModel } from '#bundle/format/model.ts'
import { smallModel } from '#test/support/bundle-models.ts'
import type { Message } from '#test/support/dns/message.ts'
import { said } from '#test/support/dns/said.ts'
import {
  arbitraryName,
  arbitraryRules,
  createRuleAnswerer,
  naiveMatch,
} from '#test/support/response-rules.ts'

/** One member a pool, so that answers do not depend on what was asked before. */
const pools = smallModel.pools.map((pool) => ({ ...pool, members: pool.members.slice(0, 1) }))
const model = { ...smallModel, pools }
const plain = createRuleAnswerer(model)
const types = fc.constantFrom('A', 'AAAA', 'SOA', 'NS', 'TXT', 'DS', 'ANY', 'CNAME')
const isOurs = (name: string): boolean => `.${name}`.endsWith('.example.org.')

/** What the rule makes of the question; `passed`: what is answered without rules. */
function checkReply(
  reply: Message,
  type: string,
  rule: ResponseRuleModel | undefined,
  passed: Message,
): void {
  if (rule === undefined || rule.action === 'passthru') {
    expect(said(reply)).toEqual(said(passed))
    return
  }
  const { name } = reply.questions[0]!
  expect(reply.aa).toBe(isOurs(name.toLowerCase()))
  if (rule.action === 'nxdomain') {
    expect([reply.rcode, reply.answer]).toEqual([3, []])
    expect(reply.authority).toHaveLength(reply.aa ? 1 : 0)
    return
  }
  const alias = `${name} 60 IN CNAME ${rule.target}`
  const isFollowed =
    type !== 'CNAME' && type !== 'ANY' && isOurs(rule.target) && rule.target !== name.toLowerCase()
  // What the target has is answered as if there were no rules.
  const { rcode, answer, authority } = isFollowed
    ? said(plain.ask(`${rule.target} ${type}`))
    : { rcode: 'NOERROR', answer: [], authority: [] }
  const { aa } = reply
  expect(said(reply)).toMatchObject({ rcode, aa, authority, answer: [alias, ...answer].toSorted() })
}

test('each question is answered by the rule that a plain search finds, and counted for it', () => {
  const names = fc.array(fc.tuple(arbitraryName, types), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(arbitraryRules, names, (responseRules, questions) => {
      const { ask, hits } = createRuleAnswerer({ ...model, responseRules })
      const expected = new Map<string, number>()
      const asked = [...questions, ...responseRules.map(({ trigger }) => [trigger, 'A'] as const)]
      for (const [name, type] of asked) {
        const rule = naiveMatch(responseRules, name)
        if (rule !== undefined) expected.set(rule.uid, (expected.get(rule.uid) ?? 0) + 1)
        checkReply(ask(`${name} ${type}`), type, rule, plain.ask(`${name} ${type}`))
      }
      const counted = hits.read().filter((one) => one.hits > 0)
      expect(new Map(counted.map((one) => [one.uid, one.hits]))).toEqual(expected)
    }),
  )
})
