// `gslbd node`: the list of nodes that count, and their tokens.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keyOfToken, readNodeList } from '#fleet/nodes/credentials.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const tokenIn = (out: string): string => /^GSLB_NODE_TOKEN=(\S+)$/m.exec(out)?.[1] ?? ''

test('a listed node gets another token, and keeps its labels and its place', async () => {
  const file = join(tempDir('node-list'), 'nodes')
  const run = (...words: string[]) => runCli('node', ...words, '--file', file)
  const first = await run('add', 'far-1', '--label', 'canary=true', '--label', 'site=fra1')
  await run('add', 'far-2')
  writeFileSync(file, `# ours\n${readFileSync(file, 'utf8')}`)
  const before = readFileSync(file, 'utf8').split('\n')
  const renewed = await run('renew', 'far-1')
  const after = readFileSync(file, 'utf8').split('\n')
  expect(after.toSpliced(1, 1)).toEqual(before.toSpliced(1, 1))
  expect(after[1]).toMatch(/^far-1 ed25519:\S+ canary=true site=fra1$/)
  expect(after[1]).not.toBe(before[1])
  const [old, now] = [tokenIn(first.out), tokenIn(renewed.out)]
  expect([keyOfToken(old), keyOfToken(now)]).not.toContain(undefined)
  expect(now).not.toBe(old)
  const nodes = readNodeList(readFileSync(file, 'utf8'))
  expect(nodes.ok && [...nodes.value.keys()]).toEqual(['far-1', 'far-2'])
  const unknown = await run('renew', 'far-3')
  expect(unknown.err).toContain(`far-3 is not listed in ${file}`)
})
