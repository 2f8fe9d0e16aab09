import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { FeedTokens } from '#feed/tokens.ts'
import { err, ok } from '#lib/result.ts'
import { createMemoryWebSocketTokens } from '#state/memory/websocket-tokens.ts'
import { FakeTime } from '#test/support/fake-time.ts'
import { feedStartMs } from '#test/support/feed-world.ts'

const key = Buffer.alloc(32, 1)
const mark = `session:${'a'.repeat(64)}` as const
const worthless = err(null)

function create(ofKey: Uint8Array = key) {
  const time = new FakeTime(feedStartMs)
  const { clock } = time
  return { time, tokens: new FeedTokens(ofKey, createMemoryWebSocketTokens(clock), clock) }
}

const atSeconds = feedStartMs / 1_000
const claims = { mark, jti: 'one', aud: 'gslbd-feed', exp: atSeconds + 60 }
const signed = (changes: object, alg = 'HS256', by: Uint8Array = key): Promise<string> =>
  new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg }).sign(by)

describe('a token of the feed', () => {
  test('opens it once', async () => {
    const { tokens } = create()
    const { token, expiresAtMs } = await tokens.issue(mark)
    expect(expiresAtMs).toBe(feedStartMs + 60_000)
    expect(await tokens.redeem(token)).toEqual(ok(mark))
    expect(await tokens.redeem(token)).toEqual(worthless)
  })

  test('is not used up by asking whose it is', async () => {
    const { tokens } = create()
    const { token } = await tokens.issue(mark)
    expect(await tokens.markOf(token)).toBe(mark)
    expect(await tokens.redeem(token)).toEqual(ok(mark))
    expect(await tokens.markOf('x')).toBeNull()
  })

  test('opens it once on all nodes that share their key and what was used', async () => {
    const { clock } = new FakeTime(feedStartMs)
    const used = createMemoryWebSocketTokens(clock)
    const [a, b] = [new FeedTokens(key, used, clock), new FeedTokens(key, used, clock)]
    const { token } = await a.issue('system')
    const answers = await Promise.all([a.redeem(token), b.redeem(token), a.redeem(token)])
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
  })

  test('is worth nothing after a minute', async () => {
    const { tokens, time } = create()
    const [first, second] = [await tokens.issue(mark), await tokens.issue(mark)]
    time.pass(59_999)
    expect(await tokens.redeem(first.token)).toEqual(ok(mark))
    time.pass(1)
    expect(await tokens.redeem(second.token)).toEqual(worthless)
  })

  test('made by hand with the right key is as good: the rows below prove something', async () => {
    expect(await create().tokens.redeem(await signed({}))).toEqual(ok(mark))
  })

  test.each<readonly [string, () => Promise<string> | string]>([
    ['no token', () => 'x'],
    ['empty', () => ''],
    ['of another key', () => signed({}, 'HS256', Buffer.alloc(32, 2))],
    ['of another algorithm', () => signed({}, 'HS512', Buffer.alloc(64, 1))],
    ['unsigned', () => new UnsecuredJWT(claims).encode()],
    ['for something else', () => signed({ aud: 'gslbd-other' })],
    ['without an end', () => signed({ exp: undefined })],
    ['without an id', () => signed({ jti: undefined })],
    ['for nobody', () => signed({ mark: 'root' })],
    ['with a hash of the wrong form', () => signed({ mark: 'session:../x' })],
    ['not valid yet', () => signed({ nbf: atSeconds + 3_600 })],
  ])('is refused when it is %s', async (_title, make) => {
    expect(await create().tokens.redeem(await make())).toEqual(worthless)
  })

  test('with one letter changed is refused', async () => {
    const { tokens } = create()
    const { token } = await tokens.issue(mark)
    for (let at = 0; at < token.length - 1; at++) {
      const letter = token[at] === 'A' ? 'B' : 'A'
      const forged = token.slice(0, at) + letter + token.slice(at + 1)
      expect(await tokens.redeem(forged)).toEqual(worthless)
    }
    expect(await tokens.redeem(token)).toEqual(ok(mark))
  })

  test('does not hide that the store is away', async () => {
    const away = { code: 'store-away', message: 'away' } as const
    const { clock } = new FakeTime(feedStartMs)
    const tokens = new FeedTokens(key, { claim: async () => err(away) }, clock)
    const { token } = await tokens.issue(mark)
    expect(await tokens.redeem(token)).toEqual(err(away))
  })
})
