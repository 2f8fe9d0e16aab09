// Commands are shown in groups, by `gslbd help` and the man page.
import { expect, test } from 'vitest'
import { manPage } from '#bin/man-page.ts'
import { commandGroups, commands } from '#cli/main.ts'
import { runCli } from '#test/support/run-cli.ts'

test('gslbd help shows every command once, below the heading of its group', async () => {
  const { exit, out } = await runCli('help')
  expect(exit).toBe(0)
  const [, ...parts] = out.split(/\n\n(?=[A-Z][^\n]*:\n)/)
  const shown = parts.map((part) => ({
    title: part.slice(0, part.indexOf(':')),
    names: [...part.matchAll(/^ {2}gslbd (\S+) +\S/gm)].map(([, name]) => name),
  }))
  const declared = commandGroups.map((group) => ({
    title: group.title,
    names: Object.keys(group.commands),
  }))
  expect(shown).toEqual(declared)
  expect(new Set(shown.flatMap(({ names }) => names)).size).toBe(Object.keys(commands).length)
  expect(shown.flatMap(({ names }) => names)).toHaveLength(Object.keys(commands).length)
})

test('the man page has the same headings, and its commands below them', async () => {
  const page = await manPage()
  const heads = [...page.matchAll(/^\.(?:SH|SS) (.+)$/gm)].map(([, head]) => head)
  const declared = commandGroups.flatMap((group) => [
    group.title.toUpperCase(),
    ...Object.keys(group.commands).map((name) => `gslbd ${name}`),
  ])
  expect(heads).toEqual(['NAME', 'SYNOPSIS', ...declared, 'EXIT CODES', 'FILES'])
})

test.each([
  ['srve', 'serve'],
  ['plna', 'plan'],
  ['keygn', 'keygen'],
])('advice for an unknown command looks in every group: %s', async (wrong, meant) => {
  const { exit, err } = await runCli(wrong)
  expect(exit).toBe(2)
  expect(err).toBe(
    `gslbd: there is no command "${wrong}"; did you mean "${meant}"?\n` +
      'Run "gslbd help" for the list.\n',
  )
})
