// A node that is killed, damaged, without disk or without its origin: it serves on.
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  onTestFailed,
  onTestFinished,
  test,
} from 'vitest'
import { main } from '#cli/main.ts'
import { Random } from '#lib/random.ts'
import { refusingPort } from '#test/support/backend.ts'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import { killAt } from '#test/support/kill-at.ts'
import type { KillMoment } from '#test/support/kill-at.ts'
import { countFrom, testSeed } from '#test/support/random.ts'
import { poolYaml, serviceYaml, Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { spawn, spawnWith, start, killAll } = useDaemons()
afterEach(killAll)
/** How often it is killed at a random moment. */
const kills = countFrom('GSLB_KILL_COUNT', 6)
let site: Site
/** Newest commit published so far. */
let newest = 0

/** Nothing is half done in it; a test that failed has left it to the next one broken. */
let isSound = false
beforeEach(async () => {
  onTestFailed(() => {
    isSound = false
  })
  if (!isSound) await makeSite()
  isSound = true
})
afterAll(() => site.remove())

/** A data directory with two bundles; the second one is active. */
async function makeSite(): Promise<void> {
  ;(site as Site | undefined)?.remove()
  site = await Site.make('crash')
  site.write('tenants/default/services/api.yaml', serviceYaml('api.example.com.', 'api', 'api'))
  newest = 0
  await publish(++newest)
  const daemon = await run()
  await serves(daemon, newest)
  await publish(++newest)
  await serves(daemon, newest)
  await daemon.stop()
}

/** Commit `n` gives both names the number n: a node that mixes two commits shows two numbers. */
async function publish(n: number): Promise<string> {
  site.write('tenants/default/pools/api.yaml', poolYaml(`10.2.${n >> 8}.${n & 255}`, '', 'api'))
  return site.publish(`10.1.${n >> 8}.${n & 255}`)
}

async function numberOf(daemon: DaemonProcess, name: string): Promise<number> {
  const [line = ''] = await daemon.answers(`${name}.example.com. A`)
  // 0: refused, nothing is served.
  const [, high, low] = /\.(\d+)\.(\d+)$/.exec(line) ?? []
  return Number(high ?? 0) * 256 + Number(low ?? 0)
}

/** The commit that answers. Asked again while a swap comes in between. */
async function served(daemon: DaemonProcess): Promise<number> {
  for (;;) {
    const before = await numberOf(daemon, 'www')
    const beside = await numberOf(daemon, 'api')
    if ((await numberOf(daemon, 'www')) !== before) continue
    expect(beside, 'both names are of one commit').toBe(before)
    return before
  }
}

async function serves(daemon: DaemonProcess, n: number): Promise<void> {
  await waitUntil(`commit ${n} to be served`, async () => (await served(daemon)) === n)
}

const run = (...more: string[]) => start('serve', '--settings', site.settingsFile, ...more)
const node = (...parts: string[]): string => join(site.dataDir, 'node', ...parts)

/** Files that an interrupted write or a dead process would leave. */
function leftovers(): string[] {
  return readdirSync(site.dataDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tmp$|(^|\/)lock|\.lock$/.test(name),
  )
}

/** Around the first activation anything may be half done; later, one commit follows the other. */
const killPhases = ['around its first swap', 'between two swaps', 'in its start'] as const

test(
  'killed at any moment, it comes up with a whole commit, never an older one',
  { timeout: 480_000 + kills * 20_000 },
  async () => {
    const random = new Random(testSeed)
    let isOver = false
    const pushing = (async () => {
      while (!isOver) {
        await publish(newest + 1)
        newest++
        await delay(random.below(300))
      }
    })()
    let seen = 0
    onTestFinished(async () => {
      isOver = true
      await pushing
    })
    for (let kill = 0; kill < kills; kill++) {
      const daemon = spawn('serve', '--settings', site.settingsFile)
      const phase = killPhases[kill % killPhases.length]!
      if (phase !== 'in its start') {
        await daemon.running()
        const first = await served(daemon)
        expect(first, daemon.output).toBeGreaterThanOrEqual(seen)
        seen = first
        if (phase === 'between two swaps') {
          await waitUntil('a newer commit', async () => (await served(daemon)) > first)
        }
        const untilMs = performance.now() + random.below(500)
        while (performance.now() < untilMs) seen = await served(daemon)
      } else await delay(random.below(500))
      expect((await daemon.stop('SIGKILL')).signal, daemon.output).toBe('SIGKILL')
    }
    isOver = true
    await pushing
    expect(seen).toBeGreaterThan(1)

    const daemon = await run()
    expect(await served(daemon)).toBeGreaterThanOrEqual(seen)
    await serves(daemon, newest)
    // The newest bundle may come from the disk, seconds before the Git thread has looked.
    await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
    expect((await daemon.gitops()).active).toBe(await site.git('rev-parse', 'HEAD'))
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
    expect(leftovers()).toEqual([])
    expect(await site.run('git', '-C', join(site.dataDir, 'config.git'), 'fsck')).toBe('')
  },
)

const durable = ['state.json', '.bundle', 'previous.json', 'active.json'] as const
/** The record of the bundle before is a link, which is there or is not. */
const isWritten = (file: string): boolean => file !== 'previous.json'
const moments: readonly KillMoment[] = ['half written', 'after the rename']

test(
  'killed in each durable write, it comes up with that commit or the one before',
  { timeout: 480_000 },
  async () => {
    const armed = join(site.path, 'armed')
    const writes = durable.flatMap((file) =>
      moments.slice(isWritten(file) ? 0 : 1).map((moment) => ({ file, moment })),
    )
    let before = 'the loop above'
    for (const { file, moment } of writes) {
      const daemon = spawnWith(
        killAt(file, moment, armed),
        'serve',
        '--settings',
        site.settingsFile,
      )
      await daemon.running()
      expect([newest - 1, newest], before).toContain(await served(daemon))
      expect(
        daemon.log().filter(({ level }) => level === 'error'),
        before,
      ).toEqual([])
      await serves(daemon, newest)
      await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
      expect(leftovers(), before).toEqual(['lock'])
      writeFileSync(armed, '')
      await publish(++newest)
      expect((await daemon.ended).signal, daemon.output).toBe('SIGKILL')
      rmSync(armed)
      before = `${file} ${moment}`
    }
    const daemon = await run()
    expect([newest - 1, newest], before).toContain(await served(daemon))
    await serves(daemon, newest)
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
    expect(leftovers()).toEqual([])
  },
)

describe('without its origin', () => {
  test('a node whose remote is gone serves its last bundle, and says so', async () => {
    const url = `http://127.0.0.1:${await refusingPort()}/config.git`
    site.writeSettings({ gitops: { url } })
    const daemon = await run()
    site.writeSettings({})
    expect(await served(daemon)).toBe(newest)
    await waitUntil('the fault', async () => (await daemon.gitops()).sync === 'unreachable')
    expect((await daemon.gitops()).reason?.code).toBe('ConnectionFailed')
    expect(await daemon.health()).toBe('degraded')
    expect(await served(daemon)).toBe(newest)
    await daemon.stop()
  })

  test('a node whose origin was moved away serves on, and follows it again', async () => {
    const origin = join(site.dataDir, 'config.git')
    renameSync(origin, `${origin}.away`)
    const daemon = await run()
    expect(await served(daemon)).toBe(newest)
    await waitUntil('the hold', async () => (await daemon.gitops()).sync === 'held')
    expect((await daemon.gitops()).reason?.code).toBe('BranchMissing')
    expect(await daemon.health()).toBe('degraded')
    rmSync(origin, { recursive: true })
    renameSync(`${origin}.away`, origin)
    await publish(++newest)
    await serves(daemon, newest)
    await waitUntil('health', async () => (await daemon.health()) === 'ok')
    await daemon.stop()
  })
})

function activeBundle(): string {
  const { record } = JSON.parse(readFileSync(node('active.json'), 'utf8')) as {
    record: { digest: string }
  }
  return node('bundles', `${record.digest}.bundle`)
}

function flipByte(path: string, offset: number): void {
  const bytes = readFileSync(path)
  bytes[offset]! ^= 1
  writeFileSync(path, bytes)
}

const previousServes = { disk: 'serving the previous bundle from disk', first: () => newest - 1 }
const nothingServes = { disk: 'no bundle on disk', first: () => 0 }
// Others, without a process: test/e2e/node-disk.test.ts.
const damages = [
  ['a bundle with a flipped bit', () => flipByte(activeBundle(), 2_000), previousServes],
  ['a changed record', () => forge(), previousServes],
  ['no folder of bundles at all', () => rmSync(node(), { recursive: true }), nothingServes],
] as const

/** A higher seq, with the signature of the real one. */
function forge(): void {
  const text = readFileSync(node('active.json'), 'utf8')
  writeFileSync(node('active.json'), text.replace(/"seq":(\d+)/, '"seq":9$1'))
}

describe('a start with', () => {
  for (const [what, damage, { disk, first }] of damages) {
    test(`${what} serves what is whole, and then the newest commit again`, async () => {
      damage()
      // The Git side finds its state late: what comes first is from the disk.
      const daemon = spawn('serve', '--settings', site.settingsFile)
      await daemon.running()
      expect([first(), newest]).toContain(await served(daemon))
      expect(daemon.logged(disk), daemon.output).toBeDefined()
      if (first() !== 0) {
        expect(daemon.logged('the stored active bundle is not used')?.level).toBe('error')
      }
      await serves(daemon, newest)
      await waitUntil('health', async () => (await daemon.health()) === 'ok')
      // Two bundles again for the next row.
      await publish(++newest)
      await serves(daemon, newest)
      expect(await daemon.stop()).toEqual({ code: 0, signal: null })
    })
  }

  test('a damaged state of the Git side serves on, held until trust is reset', async () => {
    writeFileSync(join(site.dataDir, 'gitops', 'state.json'), '{"commit":')
    const held = await run()
    expect(await served(held)).toBe(newest)
    await waitUntil('the hold', async () => (await held.gitops()).sync === 'held')
    const { reason } = await held.gitops()
    expect(reason).toMatchObject({
      code: 'StateUnreadable',
      message: expect.stringContaining(`gslbd trust reset --data-dir ${site.dataDir}"`) as string,
    })
    expect(await held.health()).toBe('degraded')
    await held.stop()

    const io = { out: () => undefined, err: () => undefined, env: {}, isTerminal: false }
    expect(await main(['trust', 'reset', '--data-dir', site.dataDir], io)).toBe(0)
    const daemon = await run()
    await publish(++newest)
    await serves(daemon, newest)
    expect(await daemon.health()).toBe('ok')
    await daemon.stop()
  })
})

describe('a disk that refuses', () => {
  test('the bundle keeps no commit from the answers; health is degraded', async () => {
    const daemon = await run()
    rmSync(node('bundles'), { recursive: true })
    writeFileSync(node('bundles'), 'in the way')
    await publish(++newest)
    await serves(daemon, newest)
    expect(await daemon.health()).toBe('degraded')
    expect(daemon.logged('the bundle cannot be stored')?.level).toBe('error')
    rmSync(node('bundles'))
    await publish(++newest)
    await serves(daemon, newest)
    await waitUntil('health', async () => (await daemon.health()) === 'ok')
    await daemon.stop()
    const again = await run()
    expect(again.logged('serving the active bundle from disk')).toBeDefined()
    expect(await served(again)).toBe(newest)
    await again.stop()
  })

  test('the state of the Git side holds the commit back, and tries again', async () => {
    const daemon = await run()
    await waitUntil('sync', async () => (await daemon.gitops()).sync === 'synced')
    const gitops = join(site.dataDir, 'gitops')
    renameSync(gitops, `${gitops}.away`)
    writeFileSync(gitops, 'in the way')
    await publish(newest + 1)
    await waitUntil('the fault', async () => (await daemon.gitops()).sync === 'unreachable')
    expect(await daemon.health()).toBe('degraded')
    expect((await daemon.gitops()).reason?.message).toMatch(/gitops/)
    expect(await served(daemon)).toBe(newest)
    rmSync(gitops)
    renameSync(`${gitops}.away`, gitops)
    await serves(daemon, ++newest)
    await waitUntil('health', async () => (await daemon.health()) === 'ok')
    await daemon.stop()
  })
})
