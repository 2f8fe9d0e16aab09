// docs/routing.md shows what gslbd simulate prints and has a row for everything there is; what
// README.md says of geo routing works.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { Exit } from '#cli/terminal/command.ts'
import { main } from '#cli/main.ts'
import { algorithms } from '#routing/choose/algorithms.ts'
import { filters } from '#routing/choose/filters.ts'
import { strategies } from '#routing/choose/strategies.ts'
import { cityDatabase } from '#test/support/geo-site.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { tableRows } from '#test/tidy/doc-rules.ts'

const root = join(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/routing.md'), 'utf8')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** A command line of the page with the indented lines below it. */
const shown = [...page.matchAll(/^ {4}\$ (.+)\n((?: {4}.*\n)+)/gm)].map(([, command, output]) => ({
  command: command!,
  output: output!.replaceAll(/^ {4}/gm, ''),
}))

function writeDatabase(): string {
  const database = join(tempDir('page'), 'city.mmdb')
  writeFileSync(database, cityDatabase())
  return database
}

async function run(args: readonly string[]): Promise<{ exit: Exit; out: string }> {
  let out = ''
  const note = (text: string): void => void (out += text)
  const exit = await main(args, { out: note, err: note, env: {}, isTerminal: false })
  return { exit, out }
}

describe('the examples', () => {
  test('there are some', () => {
    expect(shown.length).toBeGreaterThan(2)
  })

  test.each(shown)('$command', async ({ command, output }) => {
    const database = writeDatabase()
    const [program, ...words] = command.split(' ')
    const args = words.map((word) => {
      if (word === 'city.mmdb') return database
      return word.startsWith('examples/') ? join(root, word) : word
    })
    const { exit, out } = await run(args)
    expect([program, exit, out]).toEqual(['gslbd', Exit.Ok, output])
  })
})

describe('the tables', () => {
  test('each algorithm has a row', () => {
    const named = tableRows(page, '`algorithm`').map(([name = '']) => name.split(' ')[0])
    const known = [...strategies, ...algorithms].map(({ name }) => name)
    expect(named.sort()).toEqual(known.sort())
  })

  test('each filter has a row with its kind', () => {
    const named = tableRows(page, 'filter').map(([name = '', kind]) => `${name} ${kind}`)
    const known = filters.map(
      ({ name, kind }) => `${name === 'script' ? 'script:BODY' : name} ${kind}`,
    )
    expect(named.sort()).toEqual(known.sort())
  })

  test('each alias is named', () => {
    for (const { aliases } of [...strategies, ...algorithms, ...filters]) {
      for (const alias of aliases) expect(page).toContain(`\`${alias}\``)
    }
  })
})

test('the five minutes of README.md', async () => {
  const [, section = ''] = readme.split('## Geo routing in five minutes')
  const blocks = [...section.split(/^## /m)[0]!.matchAll(/^```yaml\n([^]*?)^```$/gm)]
  const [rules, settings, declared] = blocks.map(([, text = '']) => parse(text) as object)
  expect(Object.keys(settings!)).toEqual(['geoip'])
  const { members, filterChain } = declared as { members: object[]; filterChain: string[] }
  const config = tempDir('five-minutes')
  const put = (kind: string, path: string, name: string, spec: object): void => {
    const document = { apiVersion: 'gslb/v1', kind, metadata: { name }, spec }
    mkdirSync(dirname(join(config, path)), { recursive: true })
    // JSON is YAML.
    writeFileSync(join(config, path), JSON.stringify(document))
  }
  const nameservers = [{ name: 'ns.example.net.' }]
  put('Settings', 'gslb.yaml', 'settings', { zones: [{ name: 'example.com.', nameservers }] })
  put('Pool', 'tenants/default/pools/plain.yaml', 'plain', { members })
  put('Pool', 'tenants/default/pools/ruled.yaml', 'ruled', { members, ...rules })
  for (const [name, pool] of [
    ['near', 'plain'],
    ['ruled', 'ruled'],
  ] as const) {
    const spec = { domain: `${name}.example.com.`, pool, filterChain }
    put('Service', `tenants/default/services/${name}.yaml`, name, spec)
  }
  for (const [name, client, answer] of [
    ['near', '10.1.2.0/24', '192.0.2.10'],
    ['near', '10.3.2.0/24', '198.51.100.10'],
    ['ruled', '10.20.1.0/24', '198.51.100.10'],
    ['ruled', '10.21.1.0/24', '192.0.2.10'],
  ] as const) {
    const args = ['--config', config, '--geoip', writeDatabase(), '--client', client]
    const { exit, out } = await run(['simulate', `${name}.example.com.`, ...args])
    expect([name, client, exit, out]).toEqual([name, client, Exit.Ok, expect.any(String)])
    expect([name, client, /^answer +(\S+),/m.exec(out)?.[1]]).toEqual([name, client, answer])
  }
})
