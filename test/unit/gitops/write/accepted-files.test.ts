// The files of a write: the accepted ones with its changes, whatever came before.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { AcceptedConfig } from '#gitops/write/accepted.ts'
import { systemClock } from '#lib/clock.ts'
import { laneCount } from '#test/support/lane.ts'
import { sourceFile } from '../../compiler/fixture.ts'
import type { SourceFile } from '#compiler/read/source.ts'

const settings = sourceFile(
  'gslb.yaml',
  'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\nspec: {}\n',
)
const poolAt = (n: number, weight: number): SourceFile => {
  const member = `{ ipAddress: 192.0.2.1, port: 443, weight: ${weight} }`
  const head = `apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: p${n} }\n`
  const text = `${head}spec: { members: [${member}] }\n`
  return sourceFile(`tenants/acme/pools/p${n}.yaml`, text)
}

/** Which pool, and its weight; 0: its file goes. */
const change = fc.tuple(fc.nat(11), fc.nat(3))
const writes = fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), { maxLength: 8 })

test('a compiler that has forgotten everything gets what one that remembers gets', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(11)), writes, (first, commits) => {
      const remembering = createCompilePort()
      const accepted = new AcceptedConfig(systemClock)
      const all = new Map(
        [settings, ...first.map((n) => poolAt(n, 1))].map((one) => [one.path, one]),
      )
      const start = remembering.compile([...all.values()], 'a'.repeat(40))
      expect(start.ok).toBe(true)
      const { read } = start as Extract<typeof start, { ok: true }>
      const tree = 'b'.repeat(40)
      const files = [...all.values()]
      accepted.replace({ commit: 'a'.repeat(40), tree, files, read, removals: 'git' })
      for (const [at, pools] of commits.entries()) {
        const changes = new Map<string, SourceFile | null>()
        for (const [n, weight] of pools) {
          const file = poolAt(n, weight)
          if (weight > 0) changes.set(file.path, file)
          else if (all.has(file.path)) changes.set(file.path, null)
        }
        if (changes.size === 0) continue
        const commit = String(at).padStart(40, '0')
        const next = accepted.filesWith(changes)
        for (const [path, file] of changes) {
          if (file === null) all.delete(path)
          else all.set(path, file)
        }
        expect(next.map(({ path }) => path)).toEqual([...all.keys()].sort())
        const known = remembering.compile(next, commit)
        const anew = createCompilePort().compile(next, commit)
        if (!known.ok || !anew.ok) throw new Error('pools without a service are fine')
        expect(known.digest).toBe(anew.digest)
        accepted.extend({ commit, tree, changes, read: known.read, removals: 'api' })
      }
    }),
    { numRuns: laneCount(300) },
  )
})
