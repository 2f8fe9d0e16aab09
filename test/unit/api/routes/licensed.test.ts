// Calls that the licence may forbid: what the reference says of them is what they do.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operationId } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'
import { licensedFeatures } from '#licence/gate.ts'
import { rootKey } from '#test/support/config-world.ts'
import { routeCases } from '#test/support/route-cases.ts'
import { startWholeWorld } from '#test/support/whole-world.ts'
import type { WholeWorld } from '#test/support/whole-world.ts'

let isOver = false
let whole: WholeWorld
beforeAll(async () => {
  const refusal = (feature: string) => (isOver ? `no licence for ${feature}` : undefined)
  whole = await startWholeWorld({ licence: { refusal, memberLimit: () => undefined } })
})
afterAll(() => whole.stop())

const licensed = routes.filter((row) => row.licensed !== undefined)

test.each(licensed.map((row) => [operationId(row), row] as const))(
  '%s is refused in the words of the licence when that has ended',
  async (id, { method, path, licensed: feature }) => {
    const { make, body } = routeCases[id]!
    isOver = false
    const params = (await make?.(whole.world, 'acme')) ?? {}
    const named = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
    isOver = true
    const answer = await whole.world.call(rootKey, method, named.replace('/api/v1', ''), body?.())
    expect([answer.status, answer.body]).toEqual([403, { error: `no licence for ${feature}` }])
  },
)

interface Me {
  readonly unlicensed: readonly { readonly feature: string; readonly reason: string }[]
}

test("a caller's permissions show what the licence forbids, and why", async () => {
  const unlicensed = async () => {
    const { text } = await whole.world.call(rootKey, 'GET', '/auth/me')
    return (JSON.parse(text) as Me).unlicensed
  }
  isOver = false
  expect(await unlicensed()).toEqual([])
  isOver = true
  const all = licensedFeatures.map((feature) => ({ feature, reason: `no licence for ${feature}` }))
  expect(await unlicensed()).toEqual(all)
})

interface Documented {
  readonly 'x-licensed-feature'?: string
}

test('the document names the feature of each call that needs one', async () => {
  const { text } = await whole.world.call(rootKey, 'GET', '/openapi.json')
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Documented>> }
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const { 'x-licensed-feature': feature } = operation
      return feature === undefined ? [] : [`${method.toUpperCase()} ${path} ${feature}`]
    }),
  )
  const expected = licensed.map((row) => `${row.method} ${row.path} ${row.licensed}`)
  expect(found.toSorted()).toEqual(expected.toSorted())
  expect(found).toContain('POST /api/v1/redirects redirects')
})
