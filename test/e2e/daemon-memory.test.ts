// Commits made to take all memory, pushed to a node that has as little as a small container.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import type { GitopsStatus } from '#ports/operator-view.ts'
import { mainPath, useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess, Daemons } from '#test/support/daemon.ts'
import { limitMemory, peakResidentBytes } from '#test/support/memory-limit.ts'
import { Site } from '#test/support/site.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const mebibyte = 2 ** 20
const containerBytes = 1_100 * mebibyte
/** Where control groups cannot be made, the peak is measured all the same. */
const container = limitMemory(containerBytes)
const smallContainer = join(import.meta.dirname, '../support/small-container.ts')
const inContainer = useDaemons({ TEST_CGROUP: container?.procs ?? '' })
/** Compiling may use 80 MB here: half of what the files below take. */
const inLess = useDaemons({ TEST_MEMORY: String(200 * mebibyte) })
afterAll(async () => {
  await inContainer.killAll()
  container?.remove()
})

const files = Array.from({ length: 8 }, (_, i) => `tenants/default/pools/deep-${i}.yaml`)
const deepText = (i: number): string => `a${i}: ${'['.repeat(1_000_000)}`
/** Within every limit of a file, and as costly as one can be. */
const wideText = `a: [${'a,'.repeat(174_000)}]\n`

async function startIn({ spawnWith }: Daemons, site: Site): Promise<DaemonProcess> {
  const daemon = spawnWith(smallContainer, 'serve', '--settings', site.settingsFile)
  await daemon.running()
  return daemon
}

async function newSite(label: string): Promise<Site> {
  const site = await Site.make(label)
  onTestFinished(() => site.remove())
  await site.push()
  return site
}

async function pushed(site: Site, title: string): Promise<string> {
  await site.commit(title)
  await site.push()
  return site.git('rev-parse', 'HEAD')
}

const good = ['www.example.com. 5 IN A 192.0.2.1']
async function answering(daemon: DaemonProcess): Promise<void> {
  const answer = () => daemon.answers('www.example.com. A')
  await waitUntil('the answer', async () => (await answer()).join() === good.join())
}

async function verdictOver(daemon: DaemonProcess, commit: string): Promise<GitopsStatus> {
  return waitUntil('a verdict', async () => {
    const status = await daemon.gitops()
    return status.head === commit && status.sync === 'held' && status
  })
}

test('a commit of deep files neither ends the process nor takes its memory', async () => {
  const site = await newSite('deep')
  const daemon = await startIn(inContainer, site)
  await answering(daemon)
  const before = peakResidentBytes(daemon.pid)
  for (const [i, file] of files.entries()) site.write(file, deepText(i))
  const { reason, diagnostics } = await verdictOver(daemon, await pushed(site, 'deep files'))
  expect([reason?.code, diagnostics.map(({ code }) => code)]).toEqual([
    'CompileFailed',
    files.map(() => 'yaml-too-deep'),
  ])
  expect(await daemon.answers('www.example.com. A')).toEqual(good)
  expect(daemon.isOver).toBe(false)
  expect(peakResidentBytes(daemon.pid) - before).toBeLessThan(200 * mebibyte)
  if (container !== undefined) expect(container.peakBytes()).toBeLessThan(containerBytes)
})

test('a commit under which the compiler died twice is held, also after a restart', async () => {
  const site = await newSite('fatal')
  const daemon = await startIn(inLess, site)
  await answering(daemon)
  site.write('tenants/default/pools/wide.yaml', wideText)
  const fatal = await pushed(site, 'a wide file')
  const { reason } = await verdictOver(daemon, fatal)
  expect(reason?.code).toBe('CommitFatal')
  expect(reason?.message).toContain(
    `While commit ${fatal.slice(0, 10)} was read, the thread that compiles ended 2 times`,
  )
  const deaths = (one: DaemonProcess) =>
    one.log().filter(({ msg }) => msg.includes('The configuration worker stopped')).length
  expect([deaths(daemon), await daemon.answers('www.example.com. A')]).toEqual([2, good])
  await daemon.stop()
  const again = await startIn(inLess, site)
  await answering(again)
  expect((await verdictOver(again, fatal)).reason).toMatchObject({ code: 'CommitFatal' })
  expect(deaths(again)).toBe(0)
  await site.git('rm', '-q', 'tenants/default/pools/wide.yaml')
  const mended = await pushed(site, 'without it')
  await waitUntil('the next commit', async () => (await again.gitops()).active === mended)
})

test('a check of deep files takes less than 200 MB and is over at once', async () => {
  const folder = makeTempDir('deep-check')
  onTestFinished(() => removeTempDir(folder))
  mkdirSync(join(folder, 'tenants/default/pools'), { recursive: true })
  for (const [i, file] of files.entries()) writeFileSync(join(folder, file), deepText(i))
  const best = { cpuMs: Infinity, peakMb: Infinity }
  // The best of several: the machine may have other work.
  for (let i = 0; i < 3; i++) {
    const report = join(import.meta.dirname, '../support/report-peak.ts')
    const child = spawn(process.execPath, ['--import', report, mainPath, 'check', folder])
    const [out, peak, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number]>,
    ])
    expect(code).toBe(1)
    expect(out.match(/error yaml-too-deep/g)).toHaveLength(files.length)
    best.cpuMs = Math.min(best.cpuMs, Number(/cpu (\d+)/.exec(peak)?.[1]))
    best.peakMb = Math.min(best.peakMb, Number(/peak (\d+)/.exec(peak)?.[1]))
  }
  expect(best.peakMb).toBeLessThan(200)
  // Its own time, the start of Node included, whatever else the machine does; it was 43 s.
  expect(best.cpuMs).toBeLessThan(1_500)
})
