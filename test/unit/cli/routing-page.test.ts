// docs/routing.md shows what gslbd simulate prints and has a row for everything there is.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
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
