// The examples of docs/operations/clients.md and of the client's README do what they say.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { codeBlocks, runExample, startClientWorld } from '#test/support/client-world.ts'
import type { ClientWorld } from '#test/support/client-world.ts'
import { keyOf } from '#test/support/config-world.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/operations/clients.md'), 'utf8')
const readme = readFileSync(join(root, 'clients/typescript/README.md'), 'utf8')

let world: ClientWorld
const folder = makeTempDir('client-examples')
beforeAll(async () => {
  world = await startClientWorld()
})
afterEach(async () => {
  const client = world.clientOf()
  for (const path of ['/api/v1/services', '/api/v1/pools'] as const) {
    const { body } = await client.get(path)
    for (const { id } of body) await client.delete(`${path}/{id}`, { params: { id } })
  }
})
afterAll(async () => {
  await world.close()
  removeTempDir(folder)
})

const subjects = (): string => world.world.git('log', '--format=%s', 'main')

test('TypeScript', async () => {
  const [code = ''] = codeBlocks(readme, 'ts')
  const client = pathToFileURL(join(root, 'clients/typescript/client.ts')).href
  const path = join(folder, 'example.ts')
  writeFileSync(path, code.replace("'@gslbd/client'", `'${client}'`))
  expect(await runExample(process.execPath, [path], world)).toBe('web\n192.0.2.10 2\n')
  expect(subjects()).toContain('a pool for www')
})

test('Python', async () => {
  const [code = ''] = codeBlocks(page, 'python')
  const path = join(folder, 'gslb.py')
  writeFileSync(path, code)
  expect(await runExample('python3', [path], world)).toBe('web\n192.0.2.10 2\n')
})

test('curl', async () => {
  const [code = ''] = codeBlocks(page, 'sh')
  const said = await runExample('bash', ['-euo', 'pipefail', '-c', code], world)
  expect(said).toMatch(/"name":"web"[^]*HTTP\/1.1 412 /)
})

test('the requests of Terraform make, read, change and delete what its resources say', async () => {
  const [code = ''] = codeBlocks(page, 'hcl')
  const resources = resourcesOf(code)
  expect(resources.map(({ name }) => name)).toEqual(['web', 'web_1', 'www'])
  const ids = new Map<string, string>()
  // `terraform apply`: POST, and what it answers must have what was written.
  for (const resource of resources) {
    const data = filled(resource.data, ids)
    const made = await asked('POST', filled(resource.path, ids), data)
    expect(made.status, resource.name).toBe(201)
    ids.set(resource.name, made.body['id'] as string)
    expect(made.body).toMatchObject(JSON.parse(data) as object)
  }
  const placeOf = ({ name, path, place }: Resource): string =>
    filled(place ?? `${path}/{id}`, ids).replace('{id}', ids.get(name)!)
  // `terraform plan`: GET; a difference would be a change for ever.
  for (const resource of resources) {
    const read = await asked('GET', placeOf(resource))
    expect(read.body).toMatchObject(JSON.parse(filled(resource.data, ids)) as object)
  }
  // `terraform apply` after a change: PUT of the whole data.
  for (const resource of resources) {
    const { update, data } = resource
    const changed = filled((update ?? data).replace('"weight":1', '"weight":2'), ids)
    const put = await asked('PUT', placeOf(resource), changed)
    expect(put, resource.name).toMatchObject({ status: 200, body: JSON.parse(changed) as object })
  }
  // `terraform destroy`, the last first; then a GET says 404, and the state is without it.
  for (const resource of resources.toReversed()) {
    expect((await asked('DELETE', placeOf(resource))).status, resource.name).toBe(204)
    expect((await asked('GET', placeOf(resource))).status).toBe(404)
  }
})

interface Resource {
  readonly name: string
  readonly path: string
  /** Where it is read, changed and deleted, when that is not below its path. */
  readonly place: string | undefined
  /** JSON, with references. */
  readonly data: string
  readonly update: string | undefined
}

/** Reads as much of HCL as the page has. */
function resourcesOf(code: string): Resource[] {
  return [...code.matchAll(/^resource "restapi_object" "(\w+)" \{\n([^]*?)^\}$/gm)].map(
    ([, name = '', text = '']) => {
      const fieldOf = (key: string): string | undefined =>
        new RegExp(`^  ${key} += "(.*)"$`, 'm').exec(text)?.[1]
      const objectOf = (key: string): string | undefined => {
        const found = new RegExp(`^  ${key} += jsonencode\\(\\{([^]*?)\\}\\)$`, 'm').exec(text)?.[1]
        if (found === undefined) return undefined
        const rows = [...found.matchAll(/(\w+) += ([^,\n]+?) *(?:[,\n]|$)/g)]
        return `{${rows.map(([, field = '', value = '']) => `"${field}":${inJson(value)}`).join()}}`
      }
      const places = ['read_path', 'update_path', 'destroy_path'].map(fieldOf)
      expect(new Set(places).size, `${name}: one place`).toBe(1)
      const [place] = places
      const path = fieldOf('path') ?? ''
      return { name, path, place, data: objectOf('data') ?? '', update: objectOf('update_data') }
    },
  )
}

const inJson = (value: string): string =>
  /^restapi_object\./.test(value) ? `"\${${value}}"` : value

const filled = (text: string, ids: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\$\{restapi_object\.(\w+)\.id\}/g, (_, name: string) => ids.get(name) ?? '')

/** As the provider sends it: a token of its provider block, and a type where there is a body. */
async function asked(
  method: string,
  path: string,
  body?: string,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(`${world.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${keyOf('acme')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  const content = text === '' ? '{}' : text
  return { status: response.status, body: JSON.parse(content) as Record<string, unknown> }
}
