// The files of a commit: those above what all may have together are not read, and refused.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { bundleLimits } from '#bundle/format/limits.ts'
import { createCompiler } from '#compiler/compile.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import { SourceReader } from '#gitops/sync/compile-port.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const object = (kind: string, name: string, spec: string): Buffer =>
  Buffer.from(`apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`)
const pools = ['a', 'b', 'c'].map((name): [string, Buffer] => [
  `tenants/default/pools/${name}.yaml`,
  object('Pool', name, '{ members: [{ ipAddress: 192.0.2.1, port: 443 }] }'),
])
/** A copy of what is read, where nothing is: it counts for nothing. */
const copy = ['tenants/zz.txt', pools[0]![1]] as const
const contents = new Map([...pools, ['README.md', Buffer.alloc(10_000, '#')] as const, copy])
const total = pools.reduce((sum, [, { length }]) => sum + length, 0)

async function commitOf(files: ReadonlyMap<string, Uint8Array>) {
  const gitdir = tempDir('reader')
  execFileSync('git', ['init', '-q', '--bare', gitdir])
  const driver = createDiskDriver(gitdir)
  const tree = await driver.writeFiles(null, files)
  if (!tree.ok) throw new Error(tree.error.reason)
  return { driver, tree: tree.value }
}

test.each([
  ['exactly what they may', 0, []],
  ['an octet more', -1, ['configuration-too-large']],
  ['far more', -total + 10, ['configuration-too-large']],
])('all files of a commit have %s', async (_what, difference, codes) => {
  const { driver, tree } = await commitOf(contents)
  const bytesMax = total + difference
  const compiler = createCompiler({
    limits: { ...bundleLimits, configurationBytesMax: bytesMax },
    listsRemarks: false,
  })
  const port = { has: compiler.has, compile: () => expect.unreachable() }
  const reader = new SourceReader(() => driver, port, bytesMax)
  // The second time the compiler knows what it has taken.
  for (let time = 0; time < 2; time++) {
    const files = await reader.read(tree)
    if (!files.ok) throw new Error(files.error.reason)
    const held = files.value.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0)
    expect(held).toBe(difference === 0 && time === 0 ? total : 0)
    expect(files.value.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBe(total)
    const { diagnostics } = compiler.compile(files.value, { commit: '' })
    expect(diagnostics.map(({ code }) => code)).toEqual(codes)
    for (const { args } of diagnostics) expect(args).toContain(String(total))
  }
})

test('a commit that has too much makes the compiler forget nothing', async () => {
  const { driver, tree } = await commitOf(contents)
  const compiler = createCompiler({
    limits: { ...bundleLimits, configurationBytesMax: total },
    listsRemarks: false,
  })
  const port = { has: compiler.has, compile: () => expect.unreachable() }
  const read = await new SourceReader(() => driver, port).read(tree)
  const files = read.ok ? read.value : []
  const known = files.filter(({ bytes }) => bytes !== null)
  expect(known).toHaveLength(pools.length)
  compiler.compile(files, { commit: '' })
  const more = { ...known[0]!, path: 'tenants/default/pools/d.yaml' }
  const { diagnostics } = compiler.compile([...files, more], { commit: '' })
  expect(diagnostics).toMatchObject([{ code: 'configuration-too-large' }])
  expect(known.filter(({ blobId }) => !compiler.has(blobId))).toEqual([])
})
