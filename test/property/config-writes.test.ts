// Random sequences of writes against a plain model: the tree, the view and the model agree.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { createDiskDriver } from '#gitops/git/disk-driver.ts'
import type { Operation } from '#config/operation.ts'
import { parseCommit } from '#gitops/git/objects/commit-object.ts'
import { SourceReader } from '#gitops/sync/compile-port.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '#test/support/write-scene.ts'
import type { WriteScene } from '#test/support/write-scene.ts'

const names = ['a', 'b', 'c', 'Größe/1', 'NO'] as const
const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1'] as const

type Step =
  | { readonly do: 'create'; readonly name: string }
  | { readonly do: 'delete'; readonly name: string }
  | { readonly do: 'rename'; readonly name: string; readonly to: string }
  | { readonly do: 'service'; readonly name: string; readonly pool: string; readonly ttl: number }
  | { readonly do: 'unservice'; readonly name: string }
  | { readonly do: 'member'; readonly name: string; readonly address: string }
  | { readonly do: 'unmember'; readonly name: string; readonly address: string }
  | { readonly do: 'weight'; readonly name: string; readonly nth: number; readonly weight: number }

const name = fc.constantFrom(...names)
const address = fc.constantFrom(...addresses)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('create'), name }),
  fc.record({ do: fc.constant('delete'), name }),
  fc.record({ do: fc.constant('rename'), name, to: name }),
  fc.record({ do: fc.constant('service'), name, pool: name, ttl: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ do: fc.constant('unservice'), name }),
  fc.record({ do: fc.constant('member'), name, address }),
  fc.record({ do: fc.constant('unmember'), name, address }),
  fc.record({
    do: fc.constant('weight'),
    name,
    nth: fc.integer({ min: 0, max: 2 }),
    weight: fc.integer({ min: 0, max: 5 }),
  }),
)

interface Model {
  /** Address to weight. */
  readonly pools: Map<string, Map<string, number>>
  readonly services: Map<string, { pool: string | null; ttl: number }>
}

/** @returns what is expected: '' or the code of the refusal */
function applyToModel({ pools, services }: Model, one: Step): string {
  const pool = pools.get(one.name)
  if (one.do === 'service') {
    if (!pools.has(one.pool)) return 'invalid'
    services.set(one.name, { pool: one.pool, ttl: one.ttl })
    return ''
  }
  if (one.do === 'unservice') return services.delete(one.name) ? '' : 'not-found'
  if (one.do === 'create') {
    if (pool !== undefined) return 'conflict'
    pools.set(one.name, new Map())
    return ''
  }
  if (pool === undefined) return 'not-found'
  if (one.do === 'delete') {
    pools.delete(one.name)
    for (const service of services.values()) if (service.pool === one.name) service.pool = null
    return ''
  }
  if (one.do === 'rename') {
    if (one.to === one.name) return ''
    if (pools.has(one.to)) return 'conflict'
    pools.delete(one.name)
    pools.set(one.to, pool)
    for (const service of services.values()) if (service.pool === one.name) service.pool = one.to
    return ''
  }
  if (one.do === 'member') {
    if (pool.has(one.address)) return 'conflict'
    pool.set(one.address, 1)
    return ''
  }
  if (one.do === 'unmember') return pool.delete(one.address) ? '' : 'not-found'
  const known = [...pool.keys()][one.nth]
  if (known === undefined) return 'not-found'
  pool.set(known, one.weight)
  return ''
}

const tenant = 'default'
const missing = '00000000-0000-7000-8000-000000000000'

function operationOf(scene: WriteScene, one: Step): Operation {
  const target = { tenant, name: one.name }
  const members = scene.view.snapshot().find('Pool', tenant, one.name)?.object.spec.members ?? []
  const uidOf = (wanted: (member: (typeof members)[number], i: number) => boolean): string =>
    members.find(wanted)?.uid ?? missing
  switch (one.do) {
    case 'create':
      return { verb: 'create', kind: 'Pool', tenant, name: one.name, spec: {} }
    case 'delete':
      return { verb: 'delete', kind: 'Pool', target }
    case 'rename':
      return { verb: 'rename', kind: 'Pool', target, name: one.to }
    case 'unservice':
      return { verb: 'delete', kind: 'Service', target }
    case 'service': {
      const fields = { pool: one.pool, ttl: one.ttl }
      if (scene.view.snapshot().find('Service', tenant, one.name) !== undefined) {
        return { verb: 'update', kind: 'Service', target, patch: fields }
      }
      const domain = `s${names.indexOf(one.name as 'a')}.example.com.`
      const spec = { domain, ...fields }
      return { verb: 'create', kind: 'Service', tenant, name: one.name, spec }
    }
    case 'member': {
      const spec = { ipAddress: one.address, port: 443 }
      return { verb: 'create', kind: 'Member', owner: target, spec }
    }
    case 'unmember': {
      const uid = uidOf(({ ipAddress }) => ipAddress === one.address)
      return { verb: 'delete', kind: 'Member', target: { uid } }
    }
    case 'weight': {
      const uid = uidOf((_, i) => i === one.nth)
      return { verb: 'update', kind: 'Member', target: { uid }, patch: { weight: one.weight } }
    }
  }
}

function seen(scene: WriteScene): Model {
  const snapshot = scene.view.snapshot()
  return {
    pools: new Map(
      snapshot
        .list('Pool')
        .map((pool) => [
          pool.name,
          new Map(pool.object.spec.members.map((one) => [one.ipAddress, one.weight])),
        ]),
    ),
    services: new Map(
      snapshot
        .list('Service')
        .map(({ name: own, object: { spec } }) => [own, { pool: spec.pool, ttl: spec.ttl }]),
    ),
  }
}

const sorted = ({ pools, services }: Model): unknown => [
  [...pools].map(([key, members]) => [key, [...members]]).sort(),
  [...services].sort(),
]

let home = ''
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'gslbd-writes-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

let runs = 0

/** Every commit, from the first to the head, compiles, and differs from the one before it. */
async function assertEachCompiles(gitdir: string): Promise<void> {
  const driver = createDiskDriver(gitdir)
  const compiler = createCompilePort()
  let oid = driver.readRef('refs/heads/main')
  let above = ''
  while (oid !== null) {
    const raw = await driver.readCommit(oid)
    assert(raw.ok)
    const commit = parseCommit(raw.value)
    assert(commit.ok)
    const files = await new SourceReader(() => driver, compiler).read(commit.value.tree)
    assert(files.ok)
    assert.equal(compiler.compile(files.value, oid).ok, true, `commit ${oid} compiles`)
    assert.notEqual(commit.value.tree, above)
    above = commit.value.tree
    oid = commit.value.parents[0] ?? null
  }
}

test('after each write the view is as the model says, and every commit compiles', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
      const options = { dataDir: join(home, String(++runs)), pem: newPem() }
      await seedOrigin(options, { 'gslb.yaml': settingsYaml })
      const scene = await startWriteScene(options)
      const model: Model = { pools: new Map(), services: new Map() }
      try {
        for (const one of steps) {
          const expected = applyToModel(model, one)
          const result = await scene.write(operationOf(scene, one))
          assert.equal(result.ok ? '' : result.error.code, expected, JSON.stringify([one, result]))
          assert.deepEqual(sorted(seen(scene)), sorted(model))
        }
        // What a fresh look at Git gives is the same.
        await scene.stop()
        const again = await startWriteScene(options)
        assert.deepEqual(sorted(seen(again)), sorted(model))
        await again.stop()
        await assertEachCompiles(join(options.dataDir, 'config.git'))
      } finally {
        await scene.stop()
        rmSync(options.dataDir, { recursive: true, force: true })
      }
    }),
    { numRuns: 12 },
  )
}, 240_000)
