// A commit that is beyond the limits passes when it names what answered lately and goes back to it
// in each file that it changes; else the name is worth nothing.
import { describe, expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import {
  asItWas,
  backTo,
  before,
  day,
  few,
  filesOf,
  guardedNode as node,
  handClock,
  meant,
  moved,
} from '#test/support/guarded-node.ts'
import type { Pools } from '#test/support/guarded-node.ts'

const to = (pools: Pools) => filesOf({ default: pools }, 'movedClients: 50')
const held = 'GuardrailReached'

describe('a commit that names what answered, and goes back to it', () => {
  test('is not held, and says to which commit it goes back', async () => {
    const { push } = node(handClock(day))
    const first = await push(before)
    await push(moved, meant)
    const back = await push(before, backTo(first.commit))
    expect(back).toMatchObject({ sync: 'synced', code: '' })
    const words =
      `Commit ${back.commit.slice(0, 10)} sends 100 % of the clients of shop.example.com. ` +
      `elsewhere, more than 50 %; it goes back to commit ${first.commit.slice(0, 10)}, which ` +
      'answered until 1970-01-02 00:00 UTC, so that limit is not applied.'
    expect(back.note).toBe(words)
    expect(back.changes.at(-1)).toContain(words)
    expect((await push(asItWas)).note).toBe('')
  })

  test.each<[how: string, says: (first: string, bad: string) => string]>([
    ['the first octets of its name', (first) => backTo(first.slice(0, 7))],
    ['upper case', (first) => backTo(first.toUpperCase())],
    ['the one before another', (_, bad) => backTo(`${bad}^`)],
    ['the words of git revert', (_, bad) => `This reverts commit ${bad}.`],
    ['those of its option reference', (_, bad) => `This reverts commit ${bad.slice(0, 7)} (a, b).`],
  ])('may say so by %s', async (_how, says) => {
    const { push } = node()
    const first = await push(before)
    const bad = await push(moved, meant)
    expect((await push(before, says(first.commit, bad.commit))).note).toContain('goes back to')
  })

  test('may be what git revert makes, of a commit or a merge, also merged', async () => {
    const { push, git, look, commit } = node()
    await push(before)
    const bad = await push(moved, meant)
    git('revert', '--no-edit', '-S', bad.commit)
    expect((await look()).note).toContain('goes back to')
    const start = git('rev-parse', 'HEAD')
    git('checkout', '-q', '-b', 'side')
    commit(to({ ...few, shop: [7] }), meant)
    git('checkout', '-q', 'main')
    git('merge', '-q', '--no-ff', '--no-edit', '-S', 'side')
    const merge = await look()
    expect(merge.sync).toBe('synced')
    git('checkout', '-q', '-b', 'repair')
    git('revert', '--no-edit', '-S', '-m', '1', merge.commit)
    git('checkout', '-q', 'main')
    git('merge', '-q', '--no-ff', '--no-edit', '-S', 'repair')
    expect((await look()).note).toContain(`goes back to commit ${start.slice(0, 10)}`)
  })

  test('may say so in a commit after it', async () => {
    const { push } = node()
    const first = await push(before)
    await push(moved, meant)
    const unnamed = await push(before)
    expect(unnamed.code).toBe(held)
    expect(unnamed.reason).toContain(`"Gslb-Back: ${first.commit}"`)
    expect((await push(asItWas, backTo(first.commit))).sync).toBe('synced')
  })

  test('may say so as the reason advises, after more commits than are looked at', async () => {
    const { push, commit } = node(systemClock, false)
    await push(before)
    await push(moved, meant)
    for (let i = 0; i < 65; i++) commit(asItWas)
    expect((await push(asItWas)).sync).toBe('synced')
    const { code, reason } = await push(before)
    const advice = /Gslb-Back: \w+/.exec(reason)?.[0] ?? ''
    expect([code, advice]).toEqual([held, expect.stringMatching(/ \w{40}$/)])
    expect((await push(asItWas, advice.slice(0, 24))).sync).toBe('synced')
  })

  test('is known after other commits, of which each keeps what it did', async () => {
    const { push } = node()
    const others = (octets: readonly number[], shop: readonly number[]) =>
      filesOf({ default: { ...few, shop }, acme: { a: octets } }, 'movedClients: 50')
    const first = await push(others([1, 2, 3], [5]))
    await push(others([1, 2, 3], [6]), meant)
    for (let added = 4; added < 10; added++) await push(others([1, 2, 3, added], [6]))
    const back = await push(others([1, 2, 3, 9], [5]), backTo(first.commit))
    expect(back.note).toContain('goes back to commit')
  })

  test('may go back to what commits of one push made, of which the last answered', async () => {
    const { push, commit } = node()
    await push(before)
    commit(to({ ...few, web: [1, 2, 3, 4, 5] }))
    await push(to({ ...few, web: [1, 2, 3, 4, 5], shop: [6] }), meant)
    const bad = commit(to({ ...few, web: [1, 2, 3, 4, 5], shop: [7] }), meant)
    await push(asItWas)
    const back = to({ ...few, web: [1, 2, 3, 4, 5], shop: [6] })
    expect((await push(back, `This reverts commit ${bad}.`)).sync).toBe('synced')
  })

  test('is known to a node that was started anew, or had an earlier release', async () => {
    const { push, restart, upgrade } = node()
    const first = await push(before)
    upgrade()
    restart()
    await push(moved, meant)
    restart()
    expect(await push(before, backTo(first.commit))).toMatchObject({ sync: 'synced' })
  })

  test('is known where a request made it, to which somebody said that it is meant', async () => {
    const { push, byApi } = node(handClock(day), false)
    await push(before)
    const good = to({ ...few, shop: [7] })
    const { commit } = await push(good, meant)
    expect(await byApi(moved, meant)).toBe('synced')
    expect(await push(good, backTo(commit))).toMatchObject({ sync: 'synced' })
  })

  test('takes members away that it had brought, and no names', async () => {
    const { push } = node()
    const two = filesOf({ default: { web: [1, 2] } })
    const first = await push(two)
    await push(filesOf({ default: { web: [1, 2, 3, 4, 5, 6] } }))
    const back = await push(two, backTo(first.commit))
    expect(back.note).toContain('takes away 4 of the 6 members')
    await push(filesOf({ default: { web: [1, 2], a: [1], b: [2], c: [3] } }))
    expect((await push(two, backTo(first.commit))).code).toBe('NamesRemoved')
  })

  test('takes no names of a tenant, where another limit is reached first', async () => {
    const { push } = node()
    const limits = 'removedNames: 100, tenants: { acme: { removedNames: 40 } }'
    const other = { default: { web: [1, 2] } }
    const first = await push(filesOf({ ...other, acme: { a: [1] } }, limits))
    const grown = { default: { web: [1, 2, 3, 4, 5, 6] }, acme: { a: [1], b: [2], c: [3] } }
    await push(filesOf(grown, limits))
    const back = filesOf({ ...other, acme: { a: [1] } }, limits)
    expect((await push(back, backTo(first.commit))).code).toBe(held)
  })
})

describe('one push', () => {
  /** Two mistakes that were meant, each in its own file. */
  async function twoMistakes() {
    const scene = node()
    const first = await scene.push(before)
    const one = await scene.push(moved, meant)
    const two = await scene.push(to({ web: [7, 8], shop: [6] }), meant)
    return { ...scene, first: first.commit, one: one.commit, two: two.commit }
  }

  test.each([true, false])('may take back two changes, the last one first: %s', async (isLast) => {
    const { git, look, push, one, two } = await twoMistakes()
    for (const id of isLast ? [two, one] : [one, two]) git('revert', '--no-edit', '-S', id)
    expect((await look()).sync).toBe('synced')
    for (const [files, id] of [
      [moved, one],
      [to({ web: [7, 8], shop: [6] }), two],
    ] as const) {
      expect((await push(files, backTo(id))).code).toBe(held)
    }
  })

  test('may have a repair and something else, which is judged by itself', async () => {
    const { git, commit, push, one } = await twoMistakes()
    git('revert', '--no-edit', '-S', one)
    const small = to({ web: [7, 8, 9], shop: [5], new: [9] })
    expect((await push(small)).note).toContain('goes back to')
    const { commit: last } = await push(to({ web: [7, 8, 9], shop: [1] }), meant)
    commit(to({ web: [7, 8, 9], shop: [2] }))
    expect((await push(small, backTo(`${last}^`))).code).toBe('')
    commit(to({ web: [1], shop: [5], new: [9] }))
    expect((await push(asItWas, backTo(last))).code).toBe(held)
  })

  test('is not what git revert says of another change in it', async () => {
    const { push, commit, git, look } = node()
    await push(to({ web: [1], shop: [5] }))
    const other = await push(to({ web: [2], shop: [5] }), meant)
    await push(to({ web: [2], shop: [6] }), meant)
    commit(to({ web: [2], shop: [5] }))
    const accident = git('rev-parse', 'HEAD')
    git('revert', '--no-edit', '-S', other.commit)
    const { code, reason } = await look()
    expect([code, reason]).toEqual([
      held,
      expect.stringContaining(`Commit ${accident.slice(0, 10)}`),
    ])
  })

  test('removes no more names because a repair is in the midst of it', async () => {
    const { push, commit } = node()
    const names = { a: [1], b: [2], c: [3], d: [4], e: [5] }
    const { commit: first } = await push(to({ ...few, ...names }))
    await push(to({ ...few, ...names, shop: [6] }), meant)
    const { a: _a, b: _b, ...three } = names
    commit(to({ ...few, ...three, shop: [6] }))
    commit(to({ ...few, ...three }), backTo(first))
    const { c: _c, ...two } = three
    expect((await push(to({ ...few, ...two }))).code).toBe('NamesRemoved')
  })
})

describe('a name is worth nothing', () => {
  test.each<[what: string, name: string]>([
    ['that nothing has', 'c0ffee0'],
    ['that no commit has', 'c0ffee'.repeat(7).slice(0, 40)],
  ])('%s', async (_what, name) => {
    const { push } = node()
    await push(before)
    await push(moved, meant)
    const { code, reason } = await push(before, backTo(name))
    expect(code).toBe(held)
    expect(reason).toContain(`${name.slice(0, 10)}: there is no such commit`)
  })

  test.each([
    ['lost all', [[], [11]]],
    ['had others', [[9], [11, 12, 13, 14]]],
  ])('where what uses its files has changed since: %s', async (_label, [old, fresh]) => {
    const { push, git, look } = node()
    const pools = (octets: readonly number[] = [], pool = 'shop') => {
      const files = to({ ...few, fresh: octets })
      delete files['tenants/default/services/fresh.yaml']
      const path = 'tenants/default/services/shop.yaml'
      return { ...files, [path]: files[path]!.replace('pool: shop', `pool: ${pool}`) }
    }
    await push(pools(old))
    const grown = await push(pools(fresh), meant)
    expect((await push(pools(fresh, 'fresh'), meant)).sync).toBe('synced')
    git('revert', '--no-edit', '-S', grown.commit)
    const { code, reason } = await look()
    expect([code, reason]).toEqual([held, expect.stringContaining('other files have changed')])
    // What cannot be followed is not advised.
    git('reset', '-q', '--hard', 'HEAD^')
    expect((await push(pools(old, 'fresh'))).reason).not.toContain('has the files of commit')
  })

  test('of a commit that is not below it', async () => {
    const { push, git } = node()
    const first = await push(before)
    await push(moved, meant)
    const tree = `${first.commit}^{tree}`
    const elsewhere = git('commit-tree', '-S', '-m', 'x', tree)
    const { code, reason } = await push(before, backTo(elsewhere))
    expect([code, reason]).toEqual([held, expect.stringContaining('that is not below it')])
  })

  test('for all but the newest of many', async () => {
    const { push, commit } = node()
    const first = await push(before)
    await push(moved, meant)
    commit(before)
    for (let i = 0; i < 17; i++) commit(asItWas, backTo(`${i}`.padStart(40, '0')))
    const { code, reason } = await push(asItWas, backTo('f'.repeat(40)))
    expect([code, reason]).toEqual([held, expect.stringContaining('ffffffffff: there is no')])
    expect((await push(asItWas, backTo(first.commit))).sync).toBe('synced')
  })

  test('of a held commit', async () => {
    const { push, git } = node()
    await push(before)
    expect((await push(moved)).code).toBe(held)
    const bad = git('rev-parse', 'HEAD')
    await push(to({ ...few, web: [1, 2, 3, 4, 7] }))
    expect((await push(moved, backTo(bad))).code).toBe(held)
  })

  test('where a file that the change alters is not as it was then', async () => {
    const { push } = node()
    const first = await push(before)
    await push(moved, meant)
    const part = to({ ...few, web: [1, 2, 3, 9] })
    const { code, reason } = await push(part, backTo(first.commit))
    expect(code).toBe(held)
    const words = `${first.commit.slice(0, 10)}: tenants/default/pools/web.yaml is not as it was`
    expect(reason).toContain(words)
    const more = to({ ...few, new: [9] })
    expect((await push(more, backTo(first.commit))).code).toBe(held)
    const { 'tenants/default/services/web.yaml': _, ...without } = before
    expect((await push(without, backTo(first.commit))).code).toBe(held)
  })

  test('after a day, also where the commit claims to be older', async () => {
    const clock = handClock(day)
    const { push } = node(clock)
    const first = await push(before)
    await push(moved, meant)
    clock.nowMs = () => 2 * day
    expect((await push(before, backTo(first.commit))).code).toBe(held)
    const { commitOf, beside, git } = node()
    const away = beside('away', systemClock)
    const pushOld = async (...change: Parameters<typeof commitOf>) => {
      commitOf(...change)
      const { code, sync } = await away.check()
      return code || sync
    }
    await pushOld(4 * day, before)
    const good = git('rev-parse', 'HEAD')
    expect(await pushOld(3 * day, moved, meant)).toBe('synced')
    expect(await pushOld(0, to({ ...few, web: [1, 2, 3, 4, 5], shop: [6] }))).toBe('synced')
    expect(await pushOld(3 * day, before, backTo(good))).toBe(held)
  })

  test('once more: taking back the repair is to be meant', async () => {
    const { push } = node()
    const first = await push(before)
    const bad = await push(moved, meant)
    await push(before, backTo(first.commit))
    expect((await push(moved, backTo(bad.commit))).code).toBe(held)
    expect((await push(moved, meant)).sync).toBe('synced')
    expect((await push(before, backTo(first.commit))).sync).toBe('synced')
    expect((await push(moved, backTo(bad.commit))).code).toBe(held)
  })

  test('of what was taken back by a change that no limit looks at', async () => {
    const { push } = node()
    const pools = (web: readonly number[], shop = [5, 6]) => filesOf({ default: { web, shop } })
    await push(pools([1, 2, 3, 4]))
    const bad = await push(pools([1]), meant)
    expect((await push(pools([1, 2, 3, 4], [5, 6, 7]))).note).toBe('')
    const { code, reason } = await push(pools([1], [5, 6, 7]), backTo(bad.commit))
    expect(code).toBe(held)
    expect(reason).toContain('has been taken back since')
  })

  test.each([
    ['the last mistake first', { ...few, shop: [6] }],
    ['the first mistake first', { ...few, web: [7, 8] }],
  ])('of each of two mistakes, in any order: %s', async (_label, half) => {
    const { push } = node()
    const both = to({ web: [7, 8], shop: [6] })
    const first = await push(before)
    const one = await push(moved, meant)
    const two = await push(both, meant)
    const back = half.shop[0] === 6 ? one : first
    const other = back === one ? first : one
    expect(await push(to(half), backTo(back.commit))).toMatchObject({ sync: 'synced' })
    expect((await push(both, backTo(two.commit))).code).toBe(held)
    expect(await push(before, backTo(other.commit))).toMatchObject({ sync: 'synced' })
    for (const [bad, { commit }] of [
      [to(half), two],
      [moved, one],
      [both, two],
    ] as const) {
      expect((await push(bad, backTo(commit))).code).toBe(held)
    }
  })

  test('for one mistake that is made again with the repair of the other', async () => {
    const { push } = node()
    const first = await push(before)
    const one = await push(moved, meant)
    await push(to({ web: [7, 8], shop: [6] }), meant)
    const half = to({ web: [7, 8], shop: [5] })
    expect(await push(half, backTo(first.commit))).toMatchObject({ sync: 'synced' })
    expect((await push(moved, backTo(one.commit))).code).toBe(held)
  })

  test('to any node of a remote where it is to none, away or new', async () => {
    const { commit, beside } = node()
    const [here, away] = [beside('here', systemClock), beside('away', handClock(9 * day))]
    const fresh = beside('fresh', handClock(day))
    const all = async () => {
      const seen = [await here.check(), await away.check(), await fresh.check()]
      return seen.map(({ sync, code }) => code || sync)
    }
    const first = commit(before)
    await here.check()
    await away.check()
    const bad = commit(moved, meant)
    await here.check()
    await fresh.check()
    commit(before, backTo(first))
    expect(await all()).toEqual(['synced', 'synced', 'synced'])
    commit(moved, backTo(bad))
    expect(await all()).toEqual(Array(3).fill(held))
  })
})
