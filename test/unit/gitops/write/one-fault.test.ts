// A mistake of ours about one request: the others of its batch are written all the same, and so is
// what comes later.
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import type { Operation } from '#config/operation.ts'
import type { CommitEffects } from '#judge/effects/commit-effect.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '#test/support/write-scene.ts'
import type { WriteScene } from '#test/support/write-scene.ts'

const fault = vi.hoisted(() => ({ place: '', text: 'secret of a tenant' }))
afterEach(() => void (fault.place = ''))

vi.mock(import('#config/change/apply.ts'), async (importOriginal) => {
  const real = await importOriginal()
  return {
    ...real,
    applyOperation(draft, operation) {
      const applied = real.applyOperation(draft, operation)
      const isIt = 'name' in operation && operation.name === 'w3'
      if (fault.place === 'apply' && isIt) throw new Error(fault.text)
      return applied
    },
  }
})

vi.mock(import('#compiler/yaml/edit.ts'), async (importOriginal) => {
  const real = await importOriginal()
  return {
    ...real,
    printYaml(value) {
      const { name } = value['metadata'] as { readonly name: string }
      if (fault.place === 'print' && name === 'w3') throw new Error(fault.text)
      return real.printYaml(value)
    },
  }
})

vi.mock(import('#compiler/compile.ts'), async (importOriginal) => {
  const real = await importOriginal()
  return {
    ...real,
    createCompiler(parts) {
      const compiler = real.createCompiler(parts)
      let isDamaged = false
      const compile: typeof compiler.compile = (files, options) => {
        isDamaged ||= fault.place === 'compile'
        if (isDamaged) throw new Error(fault.text)
        return compiler.compile(files, options)
      }
      return { ...compiler, compile }
    },
  }
})

async function newScene(effects?: CommitEffects): Promise<WriteScene> {
  const options = { dataDir: gitSandbox().at('data'), pem: newPem() }
  await seedOrigin(options, { 'gslb.yaml': settingsYaml })
  const at = await startWriteScene({ ...options, ...(effects && { effects }) })
  onTestFinished(() => at.stop())
  return at
}

const create = (name: string): Operation => ({
  verb: 'create',
  kind: 'Pool',
  tenant: 'default',
  name,
  spec: { members: [{ ipAddress: '192.0.2.99', port: 80 }] },
})

test.each(['apply', 'print'])('of six writes one throws at %s: five succeed', async (place) => {
  const at = await newScene()
  fault.place = place
  const names = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6']
  const results = await Promise.all(names.map((name) => at.write(create(name))))
  expect(results.map((one) => (one.ok ? 'ok' : one.error.code))).toEqual([
    'ok',
    'ok',
    'internal',
    'ok',
    'ok',
    'ok',
  ])
  expect(JSON.stringify(results)).not.toContain(fault.text)
  expect(at.changes.some((line) => line.includes(fault.text))).toBe(true)
  const pools = at.view
    .snapshot()
    .list('Pool')
    .map(({ name }) => name)
  expect(pools.toSorted()).toEqual(names.filter((name) => name !== 'w3'))
})

test('after a compiler that fails for ever the next write is made, and health tells', async () => {
  const at = await newScene()
  expect(await at.write(create('w1'))).toMatchObject({ ok: true })
  expect(at.status().faultAtMs).toBe(0)
  fault.place = 'compile'
  const failed = await Promise.all([at.write(create('w2')), at.write(create('w3'))])
  fault.place = ''
  expect(failed.map((one) => one.ok || one.error.code)).toEqual(['internal', 'internal'])
  expect(at.changes.some((line) => line.includes(fault.text))).toBe(true)
  for (const name of ['w4', 'w5']) expect(await at.write(create(name))).toMatchObject({ ok: true })
  const names = (): string[] =>
    at.view
      .snapshot()
      .list('Pool')
      .map(({ name }) => name)
  expect(names().toSorted()).toEqual(['w1', 'w4', 'w5'])
  expect(at.status()).toMatchObject({ sync: 'synced', code: '' })
  expect(at.status().faultAtMs).toBeGreaterThan(0)
})

test('a write whose effect cannot be told is made, and the log says why', async () => {
  const between = () => {
    throw new Error(fault.text)
  }
  const at = await newScene({ between, renew: () => undefined })
  const done = await at.write(create('w1'))
  expect(done.ok && [done.value.isChanged, done.value.effect]).toEqual([true, undefined])
  expect(at.changes.some((line) => line.includes(fault.text))).toBe(true)
})
