// A tree without configuration is refused, and the help names what was probably meant.
import { expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { helpOf } from '#diagnostics/diagnostics.ts'
import { sourceFile } from '../fixture.ts'

const cases: readonly [title: string, paths: string[], help: RegExp][] = [
  ['an empty tree', [], /to serve no name at all.*keep a gslb\.yaml$/],
  [
    'a source tree',
    ['src/main.ts', '.github/workflows/ci.yml', 'k8s/pod.yaml'],
    /to serve no name/,
  ],
  ['a folder in another case', ['Tenants/a/pools/p.yaml'], /rename "Tenants" to "tenants"$/],
  [
    'settings of another name',
    ['GSLB.yml', 'Tenants/a/tenant.yaml'],
    /rename "GSLB\.yml" to "gslb\.yaml", "Tenants" to "tenants"$/,
  ],
  ['settings with the other ending', ['gslb.yml'], /rename "gslb\.yml" to "gslb\.yaml"$/],
  [
    'a folder of examples',
    ['a', 'b', 'c', 'd'].map((name) => `${name}/gslb.yaml`),
    /there is configuration in "a", "b", "c" and 1 more: it has to be at the top$/,
  ],
  ['the inside of tenants/', ['acme/services/www.yaml'], /give the directory above it$/],
]
for (const [title, paths, help] of cases) {
  test(`${title} is no configuration`, () => {
    const files = paths.map((path) => sourceFile(path, 'kind: Pool\n'))
    const { ok, diagnostics } = createCompiler().compile(files, { commit: '' })
    expect([ok, diagnostics.map(({ code }) => code)]).toEqual([false, ['configuration-missing']])
    expect(helpOf(diagnostics[0]!)).toMatch(help)
  })
}

test('settings alone are a configuration', () => {
  const text = 'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\nspec: {}\n'
  const result = createCompiler().compile([sourceFile('gslb.yaml', text)], { commit: '' })
  expect(result).toMatchObject({ ok: true, total: 0 })
})
