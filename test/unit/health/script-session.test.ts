// Nothing that a script check has started outlives it: real programs that leave its process group.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '#lib/clock.ts'
import type { Outcome, ProbeResult } from '#health/probes/probe.ts'
import { defaultProbeSettings } from '#health/probes/probe-settings.ts'
import { spawnHealthWorker } from '#health/thread/worker-keeper.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import { makeTempDir, removeTempDir, tempDir } from '#test/support/temp-dir.ts'
import { probeTarget } from './check.ts'
import { testProbes } from './probe-table.ts'

const { probes } = testProbes({ allowScriptChecks: true, environment: process.env })

const directory = makeTempDir()
const stay = join(directory, 'stay')
writeFileSync(stay, '#!/bin/sh\necho $$ > $1.new && mv $1.new $1\nexec sleep 1000\n')
chmodSync(stay, 0o755)

const seen: string[] = []
afterAll(() => {
  // Only where a test has failed.
  for (const pid of seen) if (!isDead(pid)) process.kill(Number(pid), 'SIGKILL')
  removeTempDir(directory)
})

function isDead(pid: string): boolean {
  try {
    // Orphans are reaped by the system's first process, which may take its time.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return true
  }
}

const deadline = { timeout: 60_000, interval: 10 }

async function pidIn(path: string): Promise<string> {
  await expect.poll(() => existsSync(path), deadline).toBe(true)
  const pid = readFileSync(path, 'utf8').trim()
  seen.push(pid)
  return pid
}

/** Each leaves the process group of the script; `IT` is the program that stays. */
const ways: readonly (readonly [label: string, script: string])[] = [
  ['in a session of its own', 'setsid IT &'],
  ['deaf to hangups, in a session of its own', 'setsid nohup IT >/dev/null 2>&1 &'],
  ['orphaned twice', '(setsid sh -c "(setsid IT &)" &)'],
  ['in another group, without environment', 'set -m; env -i /bin/sh IT & set +m'],
  [
    'as a child, without environment, of what was orphaned',
    '(setsid sh -c "env -i setsid -w /bin/sh IT & wait" &)',
  ],
]

interface Stayed {
  readonly label: string
  readonly pid: string
}

/** Runs a script in each of the ways at once. @param rest what each does besides */
async function runAll(
  rest: (file: string) => string,
  timeoutMs: number,
): Promise<{ readonly outcomes: Set<Outcome>; readonly stayed: readonly Stayed[] }> {
  const runs = ways.map(async ([label, script], i) => {
    const file = join(directory, `${timeoutMs}-${i}`)
    const scriptContent = `${script.replace('IT', `${stay} ${file}`)}\n${rest(file)}`
    const target = probeTarget(`m${i}`, { type: 'script', scriptContent, timeoutMs })
    const ended = new Promise<ProbeResult>((resolve) => probes.script.run(target, resolve))
    const pid = await pidIn(file)
    return { label, pid, outcome: (await ended).outcome }
  })
  const stayed = await Promise.all(runs)
  return { outcomes: new Set(stayed.map(({ outcome }) => outcome)), stayed }
}

const alive = (stayed: readonly Stayed[]): string[] =>
  stayed.filter(({ pid }) => !isDead(pid)).map(({ label }) => label)

test('a process that left the group ends with a script that takes too long', async () => {
  const { outcomes, stayed } = await runAll(() => 'sleep 1000', 4_000)
  expect(outcomes).not.toContain('success')
  await expect.poll(() => alive(stayed), deadline).toEqual([])
})

test('a process that left the group ends with a healthy script, and no other does', async () => {
  const other = join(directory, 'other')
  const endless = { type: 'script', scriptContent: `${stay} ${other}`, timeoutMs: 60_000 } as const
  const cancel = probes.script.run(probeTarget('other', endless), () => undefined)
  const otherPid = await pidIn(other)
  const untilSeen = (file: string): string => `until test -e ${file}; do sleep 0.02; done; exit 0`
  const { outcomes, stayed } = await runAll(untilSeen, 60_000)
  expect(outcomes).toEqual(new Set(['success']))
  await expect.poll(() => alive(stayed), deadline).toEqual([])
  expect(isDead(otherPid)).toBe(false)
  cancel()
  await expect.poll(() => isDead(otherPid), deadline).toBe(true)
})

test('a child of a script that still runs is ended, without session and environment', async () => {
  const file = join(tempDir(), 'pid')
  const scriptContent = `setsid env -i /bin/sh ${stay} ${file} & wait`
  const target = probeTarget('m1', { type: 'script', scriptContent, timeoutMs: 60_000 })
  const cancel = probes.script.run(target, () => undefined)
  const pid = await pidIn(file)
  cancel()
  await expect.poll(() => isDead(pid), deadline).toBe(true)
})

test('a node that stops has ended them before', async () => {
  const file = join(tempDir(), 'pid')
  const quiet = (): void => undefined
  const monitor = createHealthMonitor({
    verdicts: createMemoryHealthVerdicts(),
    log: { info: quiet, warn: quiet, error: quiet },
    clock: systemClock,
    spawn: () =>
      spawnHealthWorker({
        ...defaultProbeSettings,
        ...{ allowScriptChecks: true, environment: process.env },
      }),
  })
  monitor.start()
  const scriptContent = `(setsid sh -c "(setsid ${stay} ${file} &)" &)\nsleep 1000`
  const times = { intervalMs: 100, timeoutMs: 60_000 }
  monitor.setTargets([probeTarget('m1', { ...times, type: 'script', scriptContent })])
  const pid = await pidIn(file)
  await monitor.stop()
  await expect.poll(() => isDead(pid), { timeout: 1_000, interval: 5 }).toBe(true)
})
