// Completions are made from the table of commands; bash runs its own.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { commands } from '#cli/main.ts'
import { completedOf } from '#cli/terminal/completion.ts'
import { runCli } from '#test/support/run-cli.ts'

/** Returns bash's completions after these words, the last of which is unfinished. */
function offered(script: string, ...words: string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(' ')
  const set = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}`
  const ask = `${set}; _gslbd; echo "\${COMPREPLY[*]}"`
  const said = execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
  return said.trim().split(/\s+/)
}

test('bash completes commands, their verbs and their options', async () => {
  const { exit, out } = await runCli('completion', 'bash')
  expect(exit).toBe(0)
  const names = Object.keys(commands)
  expect(offered(out, 'gslbd', '').sort()).toEqual([...names, 'help', 'version'].sort())
  expect(offered(out, 'gslbd', 'stat')).toEqual(['status'])
  expect(offered(out, 'gslbd', 'status', '--w')).toEqual(['--watch'])
  expect(offered(out, 'gslbd', 'license', '')).toEqual(['keygen', 'issue', 'show'])
  expect(offered(out, 'gslbd', 'nothing', '--')).toEqual([''])
})

test.each(['zsh', 'fish'])('%s gets every command', async (shell) => {
  const { exit, out } = await runCli('completion', shell)
  expect(exit).toBe(0)
  for (const name of Object.keys(commands)) expect(out).toContain(name)
  expect(out.split('\n').filter((line) => (line.split("'").length - 1) % 2 === 1)).toEqual([])
})

test('another shell is a wrong call', async () => {
  expect(await runCli('completion', 'csh')).toMatchObject({ exit: 2, out: '' })
})

test('options and verbs are those of the usage text, each once', () => {
  const usage =
    'Usage: gslbd x one [--a-b]\n       gslbd x two FILE\n\n  --a-b   as --other--text\n'
  const { options, verbs } = completedOf('x', 'does x', usage)
  expect({ options, verbs }).toEqual({
    options: ['--a-b', '--help', '--other--text'],
    verbs: ['one', 'two'],
  })
})
