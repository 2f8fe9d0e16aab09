// What people find around the source, issue forms and editor settings among it, agrees with it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { listFiles } from './tidy/source.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const json = (path: string): Readonly<Record<string, unknown>> =>
  JSON.parse(read(path)) as Readonly<Record<string, unknown>>
const project = 'https://github.com/gslbd/gslbd'

interface Form {
  readonly name?: string
  readonly description?: string
  readonly body?: readonly {
    readonly type: string
    readonly id?: string
    readonly attributes: Readonly<Record<string, unknown>>
  }[]
}

test('package.json says where the project is, and every page says the same', () => {
  const { homepage, repository, bugs } = json('package.json')
  expect({ homepage, repository, bugs }).toEqual({
    homepage: `${project}#readme`,
    repository: { type: 'git', url: `git+${project}.git` },
    bugs: { url: `${project}/issues` },
  })
  const pages = listFiles(root).filter((path) => /\.(?:md|ya?ml|json)$/.test(path))
  const others = pages.flatMap((path) =>
    [...read(path).matchAll(/github\.com\/[\w-]+\/gslbd\b/g)]
      .map(([address]) => `https://${address}`)
      .filter((address) => address !== project)
      .map((address) => `${path}: ${address}`),
  )
  expect(others).toEqual([])
})

test.each(['fault.yml', 'wish.yml'])('the issue form %s has what a form needs', (file) => {
  const form = parse(read(`.github/ISSUE_TEMPLATE/${file}`)) as Form
  expect(form.name).toMatch(/\w/)
  expect(form.description).toMatch(/\w/)
  const fields = (form.body ?? []).filter(({ type }) => type !== 'markdown')
  for (const { type, id, attributes } of fields) {
    expect(['input', 'textarea', 'dropdown']).toContain(type)
    expect(id).toMatch(/^[a-z-]+$/)
    expect(attributes['label']).toMatch(/\w/)
  }
  expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length)
  expect(fields.length).toBeGreaterThan(0)
})

test('the update bot looks at each folder that has packages, and at actions and images', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    readonly updates: readonly Readonly<Record<'package-ecosystem' | 'directory', string>>[]
  }
  const looked = updates.map((row) => `${row['package-ecosystem']} ${row.directory}`)
  const folders = listFiles(root)
    .filter((path) => path.endsWith('package-lock.json'))
    .map((path) => `npm /${path.replace(/\/?package-lock\.json$/, '')}`)
  expect(looked.toSorted()).toEqual(['docker /', 'github-actions /', ...folders].toSorted())
})

test('version managers take the Node that the tests run with', () => {
  expect(read('.nvmrc').trim()).toBe(process.versions.node.split('.')[0])
})

test('editors take the line length of the formatter', () => {
  const width = String(json('.prettierrc.json')['printWidth'])
  const everything = read('.editorconfig').split('[*]')[1]!.split('\n[')[0]
  expect(everything).toContain(`max_line_length = ${width}\n`)
})

test('vulnerabilities go to the private form, from SECURITY.md and from the issue forms', () => {
  for (const path of ['SECURITY.md', '.github/ISSUE_TEMPLATE/config.yml', 'CODE_OF_CONDUCT.md'])
    expect(read(path), path).toContain(`${project}/security/advisories/new`)
})

test('NOTICE names each package that the product needs, and none that is not installed', () => {
  const { dependencies } = json('package.json') as Readonly<Record<'dependencies', object>>
  const named = [...read('NOTICE').matchAll(/^(\S+): /gm)].map(([, name = '']) => name)
  const lock = json('package-lock.json')['packages'] as object
  const isThere = (name: string): boolean =>
    name === 'Node.js' || Object.keys(lock).some((path) => path.endsWith(`node_modules/${name}`))
  const hint = 'write NOTICE anew: npm run notice'
  expect(
    Object.keys(dependencies).filter((name) => !named.includes(name)),
    hint,
  ).toEqual([])
  expect(
    named.filter((name) => !isThere(name)),
    hint,
  ).toEqual([])
})
