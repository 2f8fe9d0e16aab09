// kill -9 at any moment of a look at the branch: the next start goes on as if nothing had happened.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { test } from 'vitest'
import type { Position } from '#gitops/sync/publication.ts'
import { loadState } from '#gitops/sync/stored-state.ts'
import { Random } from '#lib/random.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'

function scene() {
  const box = gitSandbox()
  const key = box.sshKey('alice')
  box.write('allowed_signers', `alice@example.com ${key.publicLine}\n`)
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  mkdirSync(box.at('data'))
  let count = 0
  const commit = (): string => {
    box.write('repo/a.yaml', `${count++}\n`)
    box.git(box.at('repo'), 'add', '-A')
    box.git(box.at('repo'), ...box.signWith(key), 'commit', '-q', '-S', '-m', 'change')
    return box.git(box.at('repo'), 'rev-parse', 'HEAD')
  }
  /** @returns the signal that ended the process. `killAfterMs`: after it said that it is ready. */
  const look = async (killAt: string, killAfterMs?: number): Promise<string | null> => {
    const script = new URL('../support/gitops-child.ts', import.meta.url).pathname
    const args = [script, box.at('data'), box.at('repo/.git'), box.at('allowed_signers'), killAt]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    if (killAfterMs !== undefined) {
      child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), killAfterMs))
    }
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
    return signal
  }
  const activated = (): Position[] => {
    const path = box.at('data/activated')
    if (!existsSync(path)) return []
    return readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Position)
  }
  const state = () => loadState(box.at('data/gitops/state.json'))
  return { commit, look, activated, state }
}

/** A seq means one digest, for ever, and never goes back. */
function assertOrdered(positions: readonly Position[]): void {
  for (const [i, { seq, digest }] of positions.entries()) {
    const before = positions[i - 1]
    if (before === undefined) continue
    assert(seq >= before.seq, `seq ${seq} after ${before.seq}`)
    if (seq === before.seq) assert.equal(digest, before.digest)
  }
}

for (const moment of ['compile', 'hand-over', 'activated']) {
  test(`killed at "${moment}", the next start activates the head`, async () => {
    const { commit, look, activated, state } = scene()
    commit()
    assert.equal(await look(''), null)
    for (let round = 2; round <= 3; round++) {
      const head = commit()
      assert.equal(await look(moment), 'SIGKILL')
      assert(state().ok)
      assert.equal(await look(''), null)
      const stored = state()
      assert(stored.ok)
      assert.deepEqual([stored.value.commit, stored.value.seq], [head, round])
      assert.deepEqual(activated().at(-1), { seq: round, digest: stored.value.digest })
    }
    assertOrdered(activated())
  })
}

test('killed at any time, the state is whole and the order holds', async () => {
  const { commit, look, activated, state } = scene()
  const random = new Random(20_261_120)
  let killed = 0
  for (let round = 0; round < 12; round++) {
    commit()
    if ((await look('', random.below(60))) === 'SIGKILL') killed++
    assert(state().ok)
  }
  const head = commit()
  assert.equal(await look(''), null)
  const stored = state()
  assert(stored.ok)
  assert.equal(stored.value.commit, head)
  assert.equal(activated().at(-1)?.digest, stored.value.digest)
  assertOrdered(activated())
  assert(killed > 0, 'some of the processes were killed in their work')
})
