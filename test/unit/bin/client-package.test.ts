import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeClientPackage } from '#bin/client-package.ts'
import { codeBlocks, runExample, startClientWorld } from '#test/support/client-world.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const root = join(import.meta.dirname, '../../..')
const user = makeTempDir('client-package')
const installed = join(user, 'node_modules/@gslbd/client')
const [example = ''] = codeBlocks(
  readFileSync(join(root, 'clients/typescript/README.md'), 'utf8'),
  'ts',
)
beforeAll(() => {
  writeClientPackage(installed)
  writeFileSync(join(user, 'package.json'), '{"type":"module"}')
})
afterAll(() => removeTempDir(user))

/** What the compiler says of each of these files, which use the installed package. */
function faultsOf(codes: readonly string[]): string[][] {
  const paths = codes.map((code, i) => {
    const path = join(user, `user-${i}.ts`)
    writeFileSync(path, code)
    return path
  })
  const program = ts.createProgram(paths, {
    ...{ strict: true, noEmit: true, target: ts.ScriptTarget.ES2024, types: ['node'] },
    ...{ module: ts.ModuleKind.NodeNext, typeRoots: [join(root, 'node_modules/@types')] },
    lib: ['lib.es2024.d.ts', 'lib.esnext.d.ts'],
    skipLibCheck: true,
  })
  return paths.map((path) => {
    const file = program.getSourceFile(path)
    const found = [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]
    return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  })
}

test('the installed package runs the example of its README', async () => {
  const world = await startClientWorld()
  const path = join(user, 'run.ts')
  writeFileSync(path, example)
  const said = await runExample(process.execPath, [path], world).finally(() => world.close())
  expect(said).toBe('web\n192.0.2.10 2\n')
})

test('its types take that example, and no path or body that the API has not', () => {
  const [right, path, body] = faultsOf([
    example,
    example.replace("post('/api/v1/pools'", "post('/api/v1/pool'"),
    example.replace("name: 'web'", 'name: 7'),
  ])
  expect(right).toEqual([])
  expect(path).not.toEqual([])
  expect(body).not.toEqual([])
}, 60_000)

test('the package has no source, and what a package needs', () => {
  const names = readdirSync(installed)
  expect(names.filter((name) => /(?<!\.d)\.ts$/.test(name))).toEqual([])
  expect(names).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'client.d.ts', 'client.js', 'openapi.d.ts']),
  )
})
