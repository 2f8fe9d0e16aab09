// A mistake of ours about one request: the others of its batch are written all the same, and so is
// what comes later.
import { expect, onTestFinished, test } from 'vitest'
import type { JsonObject } from '#compiler/yaml/text.ts'
import type { Operation } from '#config/operation.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import type { RememberingCompiler } from '#gitops/sync/compile-adapter.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '#test/support/write-scene.ts'
import type { SceneOptions, WriteScene } from '#test/support/write-scene.ts'

const secret = 'secret of a tenant'

/** It is damaged by the first compilation while `isBroken`, until it forgets what it knows. */
function breakable() {
  const real = createCompilePort()
  const at = { isBroken: false }
  let isDamaged = false
  const compiler: RememberingCompiler = {
    ...real,
    forget: () => {
      isDamaged = false
      real.forget()
    },
    compile: (files, commit) => {
      isDamaged ||= at.isBroken
      if (isDamaged) throw new Error(secret)
      return real.compile(files, commit)
    },
  }
  return { at, compiler }
}

async function newScene(parts: Partial<SceneOptions> = {}): Promise<WriteScene> {
  const options = { dataDir: gitSandbox().at('data'), pem: newPem() }
  await seedOrigin(options, { 'gslb.yaml': settingsYaml })
  const at = await startWriteScene({ ...options, ...parts })
  onTestFinished(() => at.stop())
  return at
}

const members = [{ ipAddress: '192.0.2.99', port: 80 }]
const create = (name: string, spec: object = { members }): Operation => ({
  ...{ verb: 'create', kind: 'Pool', tenant: 'default', name },
  spec: spec as JsonObject,
})

/** What no client can send, since it comes as JSON: it passes until something reads it. */
const hostile = {
  // A function cannot be copied; the words of the failure show its text.
  apply: { members, note: () => 'secret of a tenant' },
  // The library that prints what is of no common form, and it alone, asks an object whether it is
  // a list.
  print: {
    members: [{ ipAddress: '2001:db8::99', port: 80 }],
    healthCheck: {
      type: 'tcp',
      [Symbol.iterator]: () => {
        throw new Error(secret)
      },
    },
  },
}

test.each(['apply', 'print'] as const)(
  'five of six writes succeed when one throws at %s',
  async (place) => {
    const at = await newScene()
    const names = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6']
    const results = await Promise.all(
      names.map((name) => at.write(name === 'w3' ? create(name, hostile[place]) : create(name))),
    )
    expect(results.map((one) => (one.ok ? 'ok' : one.error.code))).toEqual([
      'ok',
      'ok',
      'internal',
      'ok',
      'ok',
      'ok',
    ])
    expect(JSON.stringify(results)).not.toContain(secret)
    expect(at.changes.some((line) => line.includes(secret))).toBe(true)
    const pools = at.view
      .snapshot()
      .list('Pool')
      .map(({ name }) => name)
    expect(pools.toSorted()).toEqual(names.filter((name) => name !== 'w3'))
  },
)

test('after a compiler that fails for ever the next write is made, and health tells', async () => {
  const { at: compiling, compiler } = breakable()
  const at = await newScene({ compiler })
  expect(await at.write(create('w1'))).toMatchObject({ ok: true })
  expect(at.status().faultAtMs).toBe(0)
  compiling.isBroken = true
  const failed = await Promise.all([at.write(create('w2')), at.write(create('w3'))])
  compiling.isBroken = false
  expect(failed.map((one) => one.ok || one.error.code)).toEqual(['internal', 'internal'])
  expect(at.changes.some((line) => line.includes(secret))).toBe(true)
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
