import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Exit } from '#cli/terminal/command.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

async function check(text: string) {
  const file = join(tempDir('settings'), 'gslbd.yaml')
  writeFileSync(file, text)
  return { file, ...(await runCli('check-settings', file)) }
}

test('check-settings of a right file says that a node takes it', async () => {
  const { file, exit, out, err } = await check('dns: { port: 53 }\ndataDir: state\n')
  expect([exit, err]).toEqual([Exit.Ok, ''])
  expect(out).toContain(`${file}: a node takes these settings`)
  expect(out).toContain(file.replace('gslbd.yaml', 'state'))
})

test('check-settings lists all mistakes with their places', async () => {
  const { file, exit, out, err } = await check(
    'dns: { port: x, theads: 1 }\nlogging: { level: loud }\n',
  )
  expect([exit, out]).toEqual([Exit.ErrorsFound, ''])
  const places = err.split('\n').map((line) => line.replace(file, '').slice(0, 6))
  expect(places).toEqual([':1:14:', ':1:17:', ':2:19:', ''])
})

test.each([
  ['no file', [], 'name the settings file'],
  ['two files', ['a', 'b'], '"b" is one too many'],
])('check-settings of %s is a wrong call', async (_what, files, words) => {
  const { exit, err } = await runCli('check-settings', ...files)
  expect([exit, err]).toEqual([Exit.Usage, expect.stringContaining(words)])
})
