// `gslbd node`: the list of nodes that count, and their tokens.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isSignedBy, keyOfToken, readNodeList, signedReport } from '#fleet/nodes/credentials.ts'
import { reportOf } from '#test/support/node-reports.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

test('a listed node gets another token, and counts with both until it has it', async () => {
  const file = join(tempDir('node-list'), 'nodes')
  const run = (...words: string[]) => runCli('node', ...words, '--file', file)
  const first = await run('add', 'far-1', '--label', 'canary=true', '--label', 'site=fra1')
  await run('add', 'far-2')
  writeFileSync(file, `# ours\n${readFileSync(file, 'utf8')}`)
  const before = readFileSync(file, 'utf8').split('\n')
  const renewed = await run('renew', 'far-1')
  const after = readFileSync(file, 'utf8').split('\n')
  expect(after.toSpliced(1, 1)).toEqual(before.toSpliced(1, 1))
  expect(after[1]).toMatch(/^far-1 ed25519:\S+,ed25519:\S+ canary=true site=fra1$/)
  const counts = (): boolean[] => {
    const nodes = readNodeList(readFileSync(file, 'utf8'))
    if (!nodes.ok) throw new Error(nodes.error)
    expect([...nodes.value.keys()]).toEqual(['far-1', 'far-2'])
    const far = nodes.value.get('far-1')!
    expect(far.labels).toEqual({ canary: 'true', site: 'fra1' })
    const report = reportOf('far-1')
    return [first, renewed].map(({ out }) => {
      const key = keyOfToken(/^GSLB_NODE_TOKEN=(\S+)$/m.exec(out)?.[1] ?? '')!
      return isSignedBy(far, signedReport(report, key), report, report.sentAtMs)
    })
  }
  expect(counts()).toEqual([true, true])
  const twice = await run('renew', 'far-1')
  expect(twice.err).toContain('far-1 has two tokens; "gslbd node renew far-1 --done" forgets')
  expect((await run('renew', 'far-1', '--done')).exit).toBe(0)
  expect(counts()).toEqual([false, true])
  const unknown = await run('renew', 'far-3')
  expect(unknown.err).toContain(`far-3 is not listed in ${file}`)
})
