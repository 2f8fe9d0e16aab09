// The page of commands is the one that their table gives.
import { expect, test } from 'vitest'
import { Exit, exitMeanings } from '#system/process/command.ts'
import { commandsReference } from './commands-reference.ts'
import { expectCommitted } from '../schemas/committed-file.ts'

test('docs/reference/commands.md has every command, its options and the exit codes', async () => {
  expectCommitted('docs/reference/commands.md', await commandsReference())
  expect(Object.keys(exitMeanings).map(Number)).toEqual(Object.values(Exit))
})
