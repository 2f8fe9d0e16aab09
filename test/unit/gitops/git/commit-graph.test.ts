import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { CommitGraph } from '#gitops/git/commit-graph.ts'
import { formatCommit } from '#gitops/git/objects/commit-object.ts'
import { objectIdOf } from '#gitops/git/disk-driver.ts'
import type { GitDriver } from '#gitops/git/objects/driver.ts'
import { historySize } from '#gitops/git/history-size.ts'
import type { HistoryBelow } from '#gitops/git/history-size.ts'
import { err, ok } from '#lib/result.ts'

const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** A history as numbers: commit i has parents below i, and a time that may be anything. */
interface History {
  readonly parents: readonly (readonly number[])[]
  readonly seconds: readonly number[]
}

function graphOf({ parents, seconds }: History) {
  const ids: string[] = []
  const store = new Map<string, Buffer>()
  for (const [i, below] of parents.entries()) {
    const who = { name: 'A <a@x>', seconds: seconds[i]! }
    const draft = {
      tree,
      parents: below.map((p) => ids[p]!),
      author: who,
      committer: who,
      message: `${i}`,
    }
    const raw = formatCommit(draft, () => '')
    ids.push(objectIdOf('commit', raw))
    store.set(ids[i]!, raw)
  }
  return { graph: new CommitGraph(driverOf(store)), ids, store }
}

function driverOf(store: ReadonlyMap<string, Buffer>): Pick<GitDriver, 'readCommit'> {
  return {
    readCommit: async (oid) => {
      const raw = store.get(oid)
      return raw === undefined ? err({ kind: 'missing', reason: 'missing' }) : ok(raw)
    },
  }
}

function ancestors({ parents }: History, from: number): Set<number> {
  const all = new Set([from])
  for (const i of all) for (const parent of parents[i]!) all.add(parent)
  return all
}

const histories: fc.Arbitrary<History> = fc.integer({ min: 2, max: 14 }).chain((size) =>
  fc.record({
    parents: fc.tuple(
      ...Array.from({ length: size }, (_, i) =>
        i === 0 ? fc.constant([]) : fc.uniqueArray(fc.nat(i - 1), { maxLength: 3 }),
      ),
    ),
    // Few different times, in any order: clocks are wrong as often as not.
    seconds: fc.array(fc.nat(4), { minLength: size, maxLength: size }),
  }),
)

test('finds every new commit, and whether the head descends, whatever the clocks say', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.nat(), async (history, pick) => {
      const head = history.parents.length - 1
      const accepted = pick % head
      const { graph, ids } = graphOf(history)
      const found = await graph.newCommits(ids[accepted]!, ids[head]!)
      assert(found.ok)
      const old = ancestors(history, accepted)
      const reachable = ancestors(history, head)
      assert.equal(found.value.descends, reachable.has(accepted))
      const exact = []
      for (const oid of found.value.commits) {
        if (!(await graph.isAncestor(oid, ids[accepted]!))) exact.push(ids.indexOf(oid))
      }
      const expected = [...reachable].filter((i) => !old.has(i))
      assert.deepEqual(exact.sort(), expected.sort())
    }),
    { numRuns: 1_000 },
  )
})

test('a commit missing in the middle is an error, not the end of the history', async () => {
  const { graph, ids, store } = graphOf({ parents: [[], [0], [1], [2]], seconds: [1, 2, 3, 4] })
  store.delete(ids[2]!)
  const found = await graph.newCommits(ids[0]!, ids[3]!)
  assert.equal(found.ok, false)
})

test('an accepted commit that is not in the store is not an ancestor of the head', async () => {
  const { graph, ids, store } = graphOf({ parents: [[], [], [1]], seconds: [9, 1, 2] })
  store.delete(ids[0]!)
  assert.deepEqual(await graph.newCommits(ids[0]!, ids[2]!), ok({ commits: [], descends: false }))
})

test('a history has the same size in whatever steps it came, whatever the clocks', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.array(fc.nat(), { maxLength: 4 }), async (history, picks) => {
      const { graph, ids, store } = graphOf(history)
      const driver = driverOf(store)
      const last = history.parents.length - 1
      let accepted: HistoryBelow | null = null
      for (const head of [...picks.map((pick) => pick % (last + 1)).sort((a, b) => a - b), last]) {
        const found = await graph.newCommits(accepted?.commit ?? null, ids[head]!)
        assert(found.ok)
        if (!found.value.descends) continue
        const parts = { driver, graph }
        const size = await historySize(parts, ids[head]!, accepted, found.value.commits)
        assert.deepEqual(size, ok(ancestors(history, head).size))
        assert(accepted === null || size.value > accepted.size || ids[head] === accepted.commit)
        accepted = { commit: ids[head]!, size: size.value }
      }
    }),
    { numRuns: 1_000 },
  )
})

test('the local part of an incomplete history is counted', async () => {
  const { graph, ids, store } = graphOf({ parents: [[], [0], [1], [2]], seconds: [1, 2, 3, 4] })
  store.delete(ids[1]!)
  assert.deepEqual(await historySize({ driver: driverOf(store), graph }, ids[3]!, null, []), ok(2))
})
