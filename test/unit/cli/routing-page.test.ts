// docs/routing.md shows what gslbd simulate prints and has a row for everything there is.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Exit } from '#system/process/command.ts'
import { main } from '#cli/main.ts'
import { algorithms, filters } from '#routing/choose/ways.ts'
import { cityDatabase } from '#test/support/geo-site.ts'
import { expectTable } from '#test/support/page-table.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { algorithmTable, filterTable } from './ways-table.ts'

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

// After a change of a way: GSLBD_UPDATE=1 npx vitest run test/unit/cli/routing-page.test.ts, then
// prettier.
describe('the tables', () => {
  const tables = [algorithmTable(), filterTable()]

  test.each(tables)('are those of the code: %#', (table) => {
    expectTable('docs/routing.md', table)
  })

  test('are followed by every alias', () => {
    const aliases = [...algorithms, ...filters].flatMap((way) => way.aliases)
    for (const alias of aliases) expect(page).toContain(`\`${alias}\``)
  })
})
