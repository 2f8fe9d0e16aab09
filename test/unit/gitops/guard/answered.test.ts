// A repair may not go back to a commit of the remote that was held: all nodes say so, whenever
// they look.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import { AnsweredCommits } from '#gitops/guard/answered.ts'
import type { AnsweredParts } from '#gitops/guard/answered.ts'
import { gitLimits } from '#gitops/limits.ts'
import { ok } from '#lib/result.ts'
import { systemClock } from '#lib/clock.ts'
import {
  backTo,
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
import { sourceFile } from '../../compiler/fixture.ts'

/** Three judges: one sees each commit, one looks now and then, and one is new each time. */
function fleet(...options: Parameters<typeof guardedNode>) {
  const scene = guardedNode(...options)
  const here = scene.beside('here', systemClock)
  const away = scene.beside('away', handClock(9 * day))
  let count = 0
  const verdict = async (node: typeof here) => {
    const { sync, code } = await node.check()
    return code || sync
  }
  /** The last commit of these files. */
  const commits = new Map<object, string>()
  const idOf = (files: object): string => commits.get(files)!
  /** Verdicts of the judge that sees each commit. */
  const push = async (...change: Parameters<typeof scene.commit>) => {
    commits.set(change[0], scene.commit(...change))
    return await verdict(here)
  }
  /** Verdicts of all judges about a change that declares to go back to a commit. */
  const allBack = async (to: Record<string, string>, files = to) => {
    const fresh = scene.beside(`fresh${count++}`, handClock(day))
    // It begins with what came before.
    await fresh.check()
    scene.commit(files, backTo(idOf(to)))
    return [await verdict(here), await verdict(away), await verdict(fresh)]
  }
  const meanwhile = () => verdict(away)
  /** The same as `push`, of a commit that was made the day before. */
  const pushOld = async (...change: Parameters<typeof scene.commit>) => {
    scene.commitOf(day + 3_600_000, ...change)
    return await verdict(here)
  }
  const byApi = async (files: Record<string, string>) => {
    await scene.byApi(files)
    commits.set(files, scene.git('rev-parse', 'HEAD'))
  }
  return { ...scene, byApi, push, pushOld, allBack, idOf, meanwhile }
}

const sites = (pools: Pools) => filesOf({ default: { ...few, ...pools } }, 'movedClients: 50')
/** Beside the repair something else is done, so that the tree is not what it was. */
const mended = sites({ web: [1, 2, 3, 4, 7] })
const movedOnly = sites({ web: [1, 2, 3, 4, 7], shop: [6] })
const broken = { 'gslb.yaml': 'nothing: that: is: known' }
const held = Array(3).fill('GuardrailReached')
const synced = Array(3).fill('synced')

describe('a held commit of a remote', () => {
  test('is no state to go back to', async () => {
    const { push, allBack, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved)).toBe('GuardrailReached')
    expect(await push(mended)).toBe('synced')
    expect(await allBack(moved, movedOnly)).toEqual(held)
  })

  test('is none with what was built on it, nor is what goes back to it', async () => {
    const { push, allBack, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved)).toBe('GuardrailReached')
    expect(await push(movedOnly)).toBe('GuardrailReached')
    expect(await push(mended)).toBe('synced')
    expect(await allBack(moved, movedOnly)).toEqual(held)
    expect(await push(sites({ web: [1, 2, 3, 4, 7, 8] }))).toBe('synced')
    const again = sites({ web: [1, 2, 3, 4, 7, 8], shop: [6] })
    expect(await allBack(movedOnly, again)).toEqual(held)
  })

  test('does not hide what answered before it', async () => {
    const { push, allBack, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved)).toBe('GuardrailReached')
    expect(await push(sites({ shop: [7] }), meant)).toBe('synced')
    expect(await allBack(before)).toEqual(synced)
  })

  test('is none with the word of somebody who may not override', async () => {
    const { push, allBack, meanwhile, permit } = fleet()
    permit('git')
    await push(before)
    await meanwhile()
    expect(await push(moved, meant)).toBe('GuardrailReached')
    expect(await push(mended)).toBe('synced')
    expect(await allBack(moved, movedOnly)).toEqual(held)
  })

  test('is none right above one with errors of the day before', async () => {
    const { push, pushOld, allBack, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await pushOld(broken)).toBe('CompileFailed')
    expect(await push(moved)).toBe('GuardrailReached')
    expect(await push(mended)).toBe('synced')
    expect(await allBack(moved, movedOnly)).toEqual(held)
  })

  test('is none with what was built on it, above one with errors of the day before', async () => {
    const { push, pushOld, allBack, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await pushOld(broken)).toBe('CompileFailed')
    expect(await push(moved)).toBe('GuardrailReached')
    expect(await push(sites({ shop: [6], web: [1, 2, 3, 4, 8] }))).toBe('GuardrailReached')
    expect(await push(mended)).toBe('synced')
    expect(await allBack(moved, movedOnly)).toEqual(held)
  })
})

describe('an activated commit of a remote', () => {
  test.each<[label: string, ...then: Record<string, string>[]]>([
    ['with an override'],
    ['with an override, and what was built on it', sites({ web: [1, 2, 3, 4, 8], shop: [6] })],
  ])('%s is a state to go back to', async (_label, ...then) => {
    const { push, allBack, meanwhile } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved, meant)).toBe('synced')
    for (const files of then) expect(await push(files)).toBe('synced')
    expect(await push(sites({ shop: [9] }), meant)).toBe('synced')
    expect(await allBack(moved)).toEqual(synced)
  })

  test('is one with errors below it', async () => {
    const { push, allBack, meanwhile } = fleet()
    expect(await push(broken)).toBe('CompileFailed')
    await push(before)
    await meanwhile()
    expect(await push(sites({ shop: [9] }), meant)).toBe('synced')
    expect(await allBack(before)).toEqual(synced)
  })

  test('is one by a request, where nobody has to sign', async () => {
    const { push, allBack, meanwhile, byApi } = fleet(systemClock, false)
    await push(before)
    await meanwhile()
    await byApi(moved)
    expect(await push(sites({ shop: [9] }), meant)).toBe('synced')
    expect(await allBack(moved)).toEqual(synced)
  })

  test('is one that was a repair itself', async () => {
    const { push, allBack, meanwhile, idOf } = fleet()
    await push(before)
    await meanwhile()
    expect(await push(moved, meant)).toBe('synced')
    const repair = filesOf({ default: few }, 'movedClients: 50')
    expect(await push(repair, backTo(idOf(before)))).toBe('synced')
    expect(await push(sites({ shop: [9] }), meant)).toBe('synced')
    expect(await allBack(before)).toEqual(synced)
  })
})

/** Commits by name, each after the one before it; of the first parent alone, in one second. */
function chainsOf(...chains: readonly (readonly string[])[]) {
  const id = (name: string): string => createHash('sha1').update(name).digest('hex')
  const raw = new Map<string, Uint8Array>()
  for (const names of chains) {
    for (const [i, name] of names.entries()) {
      const parent = i === 0 ? '' : `parent ${id(names[i - 1]!)}\n`
      const who = 'A <a@example.com> 1700000000 +0000'
      const text = `tree ${id('tree')}\n${parent}author ${who}\ncommitter ${who}\n\n${name}\n`
      raw.set(id(name), Buffer.from(text))
    }
  }
  const readCommit = (oid: string) => Promise.resolve(ok(raw.get(oid)!))
  return { id, graph: new CommitGraph({ readCommit }) }
}

const names = (what: string, count: number) => Array.from({ length: count }, (_, i) => what + i)

describe('a commit above some with errors', () => {
  const looks = gitLimits.answeredLooksMax
  test.each<[what: string, below: readonly string[], looked: number, has: boolean]>([
    ['that go down to the first one', names('bad', 100), 101, true],
    ['that go down to the first one, with the last look', names('bad', looks - 1), looks, true],
    ['that are more than the looks', names('bad', looks), looks, false],
    ['that are above a good one', ['good', ...names('bad', 100)], 1 + 38 + 1, true],
    ['that are as many, above a good one', ['good', ...names('bad', looks + 62)], looks, false],
  ])('%s', async (_what, below, looked, has) => {
    const { id, graph } = chainsOf([...below, 'head'])
    const seen: string[] = []
    const parts = partsOf(graph, [id('head'), id('good')], seen)
    expect(await new AnsweredCommits(parts).has(id('head'))).toBe(has)
    expect(seen).toHaveLength(looked)
  })

  test('has not answered where its own look was the last one', async () => {
    const one = [...names('bad', looks - 2), 'one']
    const { id, graph } = chainsOf(one, ['good', 'other'])
    const parts = partsOf(graph, [id('one'), id('good'), id('other')], [])
    const answered = new AnsweredCommits(parts)
    expect(await answered.has(id('one'))).toBe(true)
    expect(await answered.has(id('other'))).toBe(false)
    expect(await new AnsweredCommits(parts).has(id('other'))).toBe(true)
  })
})

function partsOf(graph: CommitGraph, good: readonly string[], seen: string[]): AnsweredParts {
  const files = Object.entries(before).map(([path, text]) => sourceFile(path, text))
  const compiled = createCompiler().compile(files, { commit: '' })
  if (!compiled.ok) throw new Error('the configuration has errors')
  const outline = compiled.outline()
  return {
    graph,
    outlineOf: (commit) => {
      seen.push(commit)
      return Promise.resolve(good.includes(commit) ? outline : undefined)
    },
    signersOfRange: () =>
      Promise.resolve({
        commits: [],
        signatures: { byNodes: new Set<string>(), overriding: new Set<string>() },
      }),
    repairOf: () => Promise.resolve(''),
  }
}
