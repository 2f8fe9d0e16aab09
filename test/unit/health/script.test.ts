// Real programs: what they are told, what counts as success, and that nothing of them stays.
import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HealthCheckModel } from '#bundle/format/model.ts'
import { healthLimits } from '#health/limits.ts'
import type { ProbeResult } from '#health/probes/probe.ts'
import { interpreterOf } from '#health/probes/script-program.ts'
import { makeTempDir, removeTempDir, tempDir } from '#test/support/temp-dir.ts'
import { probeTarget, unlessStalled } from './check.ts'
import { testProbes } from './probe-table.ts'

const environment = { ...process.env, FROM_THE_PROCESS: 'inherited' }
const { probes } = testProbes({ allowScriptChecks: true, environment })

// Other processes of this machine have temporary files, too.
const temporary = makeTempDir()
const formerly = process.env['TMPDIR']
beforeAll(() => {
  process.env['TMPDIR'] = temporary
})
afterAll(() => {
  if (formerly === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = formerly
  removeTempDir(temporary)
})

function probe(given: Partial<HealthCheckModel>, ipAddress = '192.0.2.7'): Promise<ProbeResult> {
  const check = { type: 'script', port: 8443, timeoutMs: 20_000, ...given } as const
  return new Promise((resolve) => probes.script.run(probeTarget('m1', check, ipAddress), resolve))
}

function temporaryFiles(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('gslbd-check-'))
}

/** State letter of a process (proc(5)), `gone` without one. */
function stateOf(pid: string): string {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? ''
  } catch {
    return 'gone'
  }
}

/** Orphans are reaped by the system's first process, which may take its time. */
const isDead = (pid: string): boolean => ['gone', 'Z'].includes(stateOf(pid))

async function pidIn(path: string): Promise<string> {
  const text = (): string => (existsSync(path) ? readFileSync(path, 'utf8').trim() : '')
  await expect.poll(text, { interval: 5 }).not.toBe('')
  return text()
}

describe('the exit code decides', () => {
  test.each([
    ['exit 0', 'success', ''],
    ['exit 1', 'failure', 'exit code 1'],
    ['exit 255', 'failure', 'exit code 255'],
    ['kill -TERM $$', 'failure', 'killed by SIGTERM'],
  ])('%s', async (scriptContent, outcome, reason) => {
    expect(await probe({ scriptContent })).toEqual({ outcome, rttMs: 0, reason })
  })
})

describe('a script', () => {
  test('is told its member, and finds the environment of the process', async () => {
    const file = join(tempDir(), 'seen')
    const scriptContent = `echo "$SVC_HC_IP $SVC_HC_PORT $FROM_THE_PROCESS" > ${file}`
    expect((await probe({ scriptContent }, '2001:db8::7')).outcome).toBe('success')
    expect(readFileSync(file, 'utf8')).toBe('2001:db8::7 8443 inherited\n')
  })

  test('can be a program of the node', async () => {
    const scriptPath = join(tempDir(), 'check')
    writeFileSync(scriptPath, '#!/bin/sh\ntest "$SVC_HC_IP" = 192.0.2.7')
    chmodSync(scriptPath, 0o755)
    expect((await probe({ scriptPath })).outcome).toBe('success')
  })

  test('in the check goes before a program of the node', async () => {
    const result = await probe({ scriptPath: '/bin/true', scriptContent: 'exit 3' })
    expect(result.reason).toBe('exit code 3')
  })

  test('is run by the interpreter that its first line names', async () => {
    const scriptContent = `#!${process.execPath} --no-warnings\nprocess.exitCode = [7].at(-1)`
    expect((await probe({ scriptContent })).reason).toBe('exit code 7')
  })

  test('is removed when it has ended', async () => {
    await Promise.all([probe({ scriptContent: 'exit 0' }), probe({ scriptContent: 'exit 9' })])
    expect(temporaryFiles()).toEqual([])
  })

  test('that writes without end is heard by nobody', async () => {
    const scriptContent = 'head -c 200000000 /dev/zero; head -c 200000000 /dev/zero >&2; exit 4'
    expect((await probe({ scriptContent })).reason).toBe('exit code 4')
  })
})

describe('a program that cannot be started', () => {
  test.each([
    ['is not there', { scriptPath: '/nonexistent/check' }, 'does not exist'],
    ['may not be executed', { scriptPath: '/etc/passwd' }, 'may not execute'],
    ['is a directory', { scriptPath: '/etc' }, 'may not execute'],
    ['has an interpreter that is not there', { scriptContent: '#!/nonexistent/sh' }, 'not exist'],
    ['has a name that no program has', { scriptPath: '/bin/true\0' }, 'cannot be started'],
  ])('because it %s', async (_why, check, words) => {
    const { outcome, reason } = await probe(check)
    expect([outcome, reason]).toEqual(['failure', expect.stringContaining(words)])
    expect(temporaryFiles()).toEqual([])
  })
})

describe('a script leaves no process', () => {
  const lingering = (file: string): string =>
    `trap '' TERM; sleep 1000 & echo $! > ${file}.tmp; mv ${file}.tmp ${file};`

  test('when it takes too long, nor do its children', async () => {
    const file = join(tempDir(), 'pid')
    const scriptContent = `${lingering(file)} wait`
    const result = await unlessStalled(() => probe({ scriptContent, timeoutMs: 1_500 }))
    expect(result).toEqual({ outcome: 'timeout', rttMs: 0, reason: 'no result within 1500 ms' })
    const pid = await pidIn(file)
    await expect.poll(() => isDead(pid)).toBe(true)
    await expect.poll(temporaryFiles).toEqual([])
  })

  test('in the background after it ended healthy', async () => {
    const file = join(tempDir(), 'pid')
    const result = await probe({ scriptContent: `${lingering(file)} exit 0` })
    expect(result.outcome).toBe('success')
    const pid = await pidIn(file)
    await expect.poll(() => isDead(pid)).toBe(true)
  })

  test('when its probe is cancelled, which never reports', async () => {
    const file = join(tempDir(), 'pid')
    const check = { type: 'script', scriptContent: `${lingering(file)} wait` } as const
    let reports = 0
    const cancel = probes.script.run(probeTarget('m1', check), () => reports++)
    const pid = await pidIn(file)
    cancel()
    await expect.poll(() => isDead(pid)).toBe(true)
    await expect.poll(temporaryFiles).toEqual([])
    expect(reports).toBe(0)
  })

  test('as a zombie of this process', async () => {
    await Promise.all(Array.from({ length: 20 }, () => probe({ scriptContent: 'exit 0' })))
    const children = readdirSync('/proc').filter((name) => {
      if (!/^\d+$/.test(name) || stateOf(name) !== 'Z') return false
      return readFileSync(`/proc/${name}/stat`, 'utf8').includes(`) Z ${process.pid} `)
    })
    expect(children).toEqual([])
  })
})

describe('more scripts than there are places', () => {
  const places = healthLimits.scriptsInFlightMax

  test('wait for one, and all end', async () => {
    const file = join(tempDir(), 'running')
    const scriptContent = `echo x >> ${file}; sleep 0.1`
    const results = await Promise.all(
      Array.from({ length: places + 10 }, () => probe({ scriptContent, timeoutMs: 60_000 })),
    )
    expect(results.every(({ outcome }) => outcome === 'success')).toBe(true)
    expect(readFileSync(file, 'utf8').length).toBe(2 * (places + 10))
  })

  test('do not run at once, and one that gets no place says nothing of its member', async () => {
    const directory = tempDir()
    const end = join(tempDir(), 'end')
    // Ends by itself after a minute, also where the test was killed.
    const wait = `i=0; until test -e ${end} || test $((i += 1)) -gt 600; do sleep 0.1; done`
    const scriptContent = `touch ${directory}/$$; ${wait}`
    const hogs = Array.from({ length: places }, () => probe({ scriptContent, timeoutMs: 60_000 }))
    const late = probe({ scriptContent, timeoutMs: 400 })
    expect(await late).toEqual({
      outcome: 'local-error',
      rttMs: 0,
      reason: 'this node runs too many scripts at once',
    })
    writeFileSync(end, '')
    expect(new Set((await Promise.all(hogs)).map(({ outcome }) => outcome))).toEqual(
      new Set(['success']),
    )
    expect(readdirSync(directory).length).toBe(places)
    // The places are free again.
    expect((await probe({ scriptContent: 'exit 0' })).outcome).toBe('success')
  })
})

test('where scripts are not allowed none runs, and members count as healthy', async () => {
  const { probes: forbidding, lines } = testProbes()
  const file = join(tempDir(), 'ran')
  const check = { type: 'script', scriptContent: `touch ${file}; exit 1` } as const
  for (const uid of ['m1', 'm2']) {
    const result = await new Promise((resolve) =>
      forbidding.script.run(probeTarget(uid, check), resolve),
    )
    expect(result).toEqual({ outcome: 'success', rttMs: 0, reason: '' })
  }
  expect(existsSync(file)).toBe(false)
  expect(lines).toEqual([
    'a health check of type script is not run, and its members count as healthy: ' +
      'health.allowScriptChecks is false',
  ])
})

test.each([
  ['exit 0', ['/bin/sh']],
  ['#!/bin/bash\n', ['/bin/bash']],
  ['#! /usr/bin/env  python3 -u \r\nx', ['/usr/bin/env', 'python3 -u']],
  ['#!\n', ['/bin/sh']],
  [' #!/bin/bash', ['/bin/sh']],
])('%j is run by %j', (script, interpreter) => {
  expect(interpreterOf(script)).toEqual(interpreter)
})
