// Of a remote, what was held is no state to which a repair may go back: all nodes say so, whenever
// they look.
import { describe, expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import {
  before,
  day,
  few,
  filesOf,
  guardedNode,
  handClock,
  meant,
  moved,
} from '#test/support/guarded-node.ts'
import type { Pools } from '#test/support/guarded-node.ts'

/** One that sees each commit, one that looks now and then, and one that is new each time. */
function fleet(...options: Parameters<typeof guardedNode>) {
  const scene = guardedNode(...options)
  const here = scene.beside('here', systemClock)
  const away = scene.beside('away', handClock(9 * day))
  let count = 0
  const verdict = async (node: typeof here) => {
    const { sync, code } = await node.check()
    return code || sync
  }
  /** What the one says that sees each commit. */
  const push = async (...change: Parameters<typeof scene.commit>) => {
    scene.commit(...change)
    return await verdict(here)
  }
  /** What all say. */
  const all = async (...change: Parameters<typeof scene.commit>) => {
    const fresh = scene.beside(`fresh${count++}`, handClock(day))
    // It begins with what came before.
    await fresh.check()
    scene.commit(...change)
    return [await verdict(here), await verdict(away), await verdict(fresh)]
  }
  const meanwhile = () => verdict(away)
  return { ...scene, push, all, meanwhile }
}

const sites = (pools: Pools) => filesOf({ default: { ...few, ...pools } }, 'movedClients: 50')
/** Beside the repair something else is done, so that the tree is not what it was. */
const mended = sites({ web: [1, 2, 3, 4, 7] })
const movedOnly = sites({ web: [1, 2, 3, 4, 7], shop: [6] })
const held = Array(3).fill('GuardrailReached')
const synced = Array(3).fill('synced')

describe('of a remote, a commit that was held', () => {
  test('is no state to go back to', async () => {
    const { push, all, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved)).toBe('GuardrailReached')
    expect(await push(mended)).toBe('synced')
    expect(await all(movedOnly)).toEqual(held)
  })

  test('is none with what was built on it, nor is what goes back to it', async () => {
    const { push, all, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved)).toBe('GuardrailReached')
    expect(await push(movedOnly)).toBe('GuardrailReached')
    expect(await push(mended)).toBe('synced')
    expect(await all(movedOnly)).toEqual(held)
    expect(await push(sites({ web: [1, 2, 3, 4, 7, 8] }))).toBe('synced')
    expect(await all(sites({ web: [1, 2, 3, 4, 7, 8], shop: [6] }))).toEqual(held)
  })

  test('does not hide what answered before it', async () => {
    const { push, all, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved)).toBe('GuardrailReached')
    expect(await push(sites({ shop: [7] }), meant)).toBe('synced')
    expect(await all(before)).toEqual(synced)
  })

  test('is none with the word of somebody who may not override', async () => {
    const { push, all, meanwhile, permit } = fleet()
    permit('git')
    await push(before)
    await meanwhile()
    expect(await push(moved, meant)).toBe('GuardrailReached')
    expect(await push(mended)).toBe('synced')
    expect(await all(movedOnly)).toEqual(held)
  })
})

describe('of a remote, a commit that answered', () => {
  test.each<[label: string, ...then: Record<string, string>[]]>([
    ['with an override'],
    ['with an override, and what was built on it', sites({ web: [1, 2, 3, 4, 8], shop: [6] })],
  ])('%s is a state to go back to', async (_label, ...then) => {
    const { push, all, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved, meant)).toBe('synced')
    for (const files of then) expect(await push(files)).toBe('synced')
    expect(await push(sites({ shop: [9] }), meant)).toBe('synced')
    expect(await all(moved)).toEqual(synced)
  })

  test('is one with errors below it', async () => {
    const { push, all, meanwhile } = fleet()
    expect(await push({ 'gslb.yaml': 'nothing: that: is: known' })).toBe('CompileFailed')
    await push(before)
    await meanwhile()
    expect(await push(sites({ shop: [9] }), meant)).toBe('synced')
    expect(await all(before)).toEqual(synced)
  })

  test('is one by a request, where nobody has to sign', async () => {
    const { push, all, meanwhile, byApi } = fleet(systemClock, false)
    await push(before)
    await meanwhile()
    await byApi(moved)
    expect(await push(sites({ shop: [9] }), meant)).toBe('synced')
    expect(await all(moved)).toEqual(synced)
  })

  test('is one that was a repair itself', async () => {
    const { push, all, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved, meant)).toBe('synced')
    expect(await push(sites({}))).toBe('synced')
    expect(await push(sites({ shop: [9] }), meant)).toBe('synced')
    expect(await all(before)).toEqual(synced)
  })
})
