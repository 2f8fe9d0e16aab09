// gslbd simulate of services with scripts: what they decide, why they did not, and that it ends.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Exit } from '#system/process/command.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'
import { encode, member, pool, service, smallModel } from '#test/support/bundle-models.ts'
import { laneRows } from '#test/support/lane.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const run = (...argv: string[]) => runCli('simulate', ...argv)

/** `www.example.org.` has these scripts, then failover. */
function fileWith(...bodies: readonly string[]): string {
  const members = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((ip) => member(ip))
  const filterChain = [...bodies.map((body) => `script:${body}`), 'failover']
  const services = [service(1, 'www.example.org.', { filterChain, pool: 0 })]
  const path = join(tempDir('simulate'), 'a.bundle')
  writeFileSync(path, encode({ ...smallModel, pools: [pool(1, members)], services }).bytes)
  return path
}

test('scripts that never end or block are stopped once, and it is said', async () => {
  const hang = 'Array.prototype.indexOf.call({ length: 4294967295 }, 9)'
  const file = fileWith('for (;;);', hang)
  const { exit, err } = await run('www.example.org.', '--bundle', file, '--count', '10000')
  expect(exit).toBe(Exit.Ok)
  expect(err.trimEnd().split('\n')).toEqual([
    'gslbd simulate: the script "for (;;);" is left out from there on: ' +
      'it took more than 200000 steps',
    `gslbd simulate: the script "${hang}" is left out from there on: ` +
      'it did not come back within 2000 ms',
  ])
})

const outcomes: readonly [body: string, why: string][] = [
  ['null.x', "exception: TypeError: cannot read property 'x' of null (line 1)"],
  ['result = 5', 'empty: result is no list'],
  ['result = ["10.9.9.9"]', 'empty: result names no candidate'],
  [
    'const a = []; for (;;) a.push(new Array(1000).fill(1))',
    'memory: InternalError: out of memory',
  ],
  ['for (;;);', 'timeout: it took more than 200000 steps'],
]
const isShort = (_row: unknown, index: number): boolean => index === 0 || index === 2
test.each(laneRows(outcomes, isShort))(
  '%s: the trace says why it changed nothing',
  async (body, why) => {
    const good = 'result = candidates.map((c) => c.ip).reverse().slice(0, 1)'
    const args = ['www.example.org.', '--bundle', fileWith(good, body), '--count', '0']
    const { out } = await run(...args)
    expect(out).toContain(`step      script: changes nothing, ${why}`)
    const { service } = JSON.parse((await run(...args, '--format', 'json')).out) as Simulation
    const [outcome = '', ...reason] = why.split(': ')
    const [first, second] = service!.trace!.steps
    expect(first?.script).toBeNull()
    expect(second?.script?.outcome).toBe(outcome)
    expect(second?.script?.reason).toContain(reason.join(': '))
  },
)

test('the same seed and time give the same answer again', async () => {
  const body = 'result = [candidates[Math.floor(Math.random() * candidates.length)].ip]'
  const args = ['www.example.org.', '--bundle', fileWith(body), '--count', '500', '--seed', '7']
  const outs = [await run(...args), await run(...args)].map(({ out }) => out)
  expect(outs[0]).toContain('(needs 32 bits of the client)')
  expect(outs[1]).toBe(outs[0])
})
