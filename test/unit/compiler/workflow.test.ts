// The workflow that configuration repositories call: pinned, with few rights, and its commands run.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../../..')
const text = readFileSync(join(root, '.github/workflows/validate-config.yml'), 'utf8')
const workflow = parse(text) as {
  permissions: object
  jobs: { check: { permissions: object; steps: { name?: string; uses?: string; run?: string }[] } }
}
const { permissions, steps } = workflow.jobs.check
const scratch = mkdtempSync(join(tmpdir(), 'gslbd-workflow-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('every action is pinned to a commit', () => {
  const used = steps.flatMap(({ uses }) => uses ?? [])
  expect(used.length).toBeGreaterThan(0)
  for (const action of used) expect(action).toMatch(/^[\w./-]+@[0-9a-f]{40}$/)
})

test('it may read the code and write findings, and nothing else', () => {
  expect(workflow.permissions).toEqual({ contents: 'read' })
  expect(permissions).toEqual({ contents: 'read', 'security-events': 'write' })
})

test('no input is pasted into a shell', () => {
  for (const { run } of steps) expect(run ?? '').not.toContain('${{')
})

/** Runs one step's command as the runner does: configuration and product side by side. */
function runStep(name: string, configuration: string): { status: number; out: string } {
  const folder = mkdtempSync(join(scratch, 'run-'))
  cpSync(join(root, configuration), join(folder, 'configuration'), { recursive: true })
  symlinkSync(root, join(folder, 'gslbd'))
  const command = steps.find((step) => step.name === name)!.run!
  const options = { cwd: join(folder, 'configuration'), encoding: 'utf8' } as const
  try {
    const out = execFileSync('bash', ['-e', '-c', command], options)
    return {
      status: 0,
      out: name === 'Check' ? out : readFileSync(join(folder, 'gslbd.sarif'), 'utf8'),
    }
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string }
    return { status, out: stdout }
  }
}

test('the check step passes on a good configuration and annotates a bad one', () => {
  expect(runStep('Check', 'examples/quickstart')).toEqual({ status: 0, out: '' })
  const bad = runStep('Check', 'test/fixtures/diagnostics/pool-unknown')
  expect(bad.status).toBe(1)
  expect(bad.out).toMatch(/^::error file=tenants\/default\/services\/www\.yaml,line=4,col=41,/)
})

test('the SARIF step succeeds on a bad configuration, so that the findings are uploaded', () => {
  const { status, out } = runStep('Write SARIF', 'test/fixtures/diagnostics/pool-unknown')
  expect(status).toBe(0)
  expect((JSON.parse(out) as { version: string }).version).toBe('2.1.0')
})
