// Geo databases that change under a running daemon: answers follow, no query is lost.
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import {
  askFor,
  cityDatabase,
  fra,
  iad,
  makeGeoSite,
  operatorDatabase,
  par,
  subnet,
} from '#test/support/geo-site.ts'
import { QueryLoad } from '#test/support/query-load.ts'
import type { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()

interface Running {
  readonly site: Site
  readonly daemon: DaemonProcess
  readonly file: string
  /** The member that is nearest to a client of 10.1.0.0/16. */
  readonly nearest: () => Promise<string>
  readonly until: (expected: string) => Promise<void>
  readonly isBroken: () => Promise<boolean>
}

/** Starts a node; the caller removes its site. */
async function run(threads: number, cityPath?: string, before?: (file: string) => void) {
  const { site, cityFile } = await makeGeoSite('geo-reload', { threads }, cityPath)
  before?.(cityFile)
  const daemon = await start('serve', '--settings', site.settingsFile)
  const server = { host: '127.0.0.1', port: daemon.dnsPort }
  const nearest = async () => (await askFor(server, 'near', '10.1.2.0/24')).answer
  const until = async (expected: string): Promise<void> => {
    const isThere = async () => (await nearest()) === expected
    await waitUntil(`the answer ${expected}`, isThere, { intervalMs: 20 })
  }
  const isBroken = async () => {
    const samples = await daemon.metrics()
    return samples.get('gslbd_geo_database_broken{setting="geoip.dbPath"}') === 1
  }
  await waitUntil('the configuration', async () => (await nearest()).startsWith('192.0.2.'))
  const running: Running = { site, daemon, file: cityFile, nearest, until, isBroken }
  return running
}

/** A node of this test alone. */
async function runAlone(...args: Parameters<typeof run>): Promise<Running> {
  const running = await run(...args)
  onTestFinished(async () => {
    await running.daemon.stop('SIGKILL')
    running.site.remove()
  })
  return running
}

/** Asks without a pause while `work` is under way. @returns every answer that was seen */
async function underLoad(daemon: DaemonProcess, work: () => Promise<void>) {
  const opt = { options: [subnet('10.1.2.0/24')] }
  const load = new QueryLoad(daemon.dnsPort, 'near.example.com. A', { opt })
  load.start()
  await work()
  await waitUntil('some answers', () => load.asked > 100)
  const { lost, answers } = await load.stop()
  expect(lost).toBe(0)
  return answers
}

function replace(file: string, content: Buffer): void {
  writeFileSync(`${file}.new`, content)
  renameSync(`${file}.new`, file)
}

const patient = { timeout: 480_000 }

test.each([
  ['UDP in batches', 2],
  ['UDP through node:dgram', 0],
])('a file renamed into its place changes the answers: %s', patient, async (_by, threads) => {
  const { daemon, file, until } = await runAlone(threads)
  await until(fra)
  const answers = await underLoad(daemon, async () => {
    replace(file, cityDatabase('paris'))
    await until(par)
    replace(file, cityDatabase('ashburn'))
    await until(iad)
  })
  expect(answers).toEqual([fra, par, iad])
})

test('a ConfigMap that turns its link changes the answers', patient, async () => {
  const put = (folder: string, version: string, content: Buffer): void => {
    mkdirSync(join(folder, version), { recursive: true })
    writeFileSync(join(folder, version, 'city.mmdb'), content)
    symlinkSync(version, join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
  }
  const { daemon, file, until } = await runAlone(1, 'map/city.mmdb', (link) => {
    put(dirname(link), '..2026_11_01', cityDatabase())
    symlinkSync('..data/city.mmdb', link)
  })
  await until(fra)
  const answers = await underLoad(daemon, async () => {
    put(dirname(file), '..2026_11_02', cityDatabase('paris'))
    rmSync(join(dirname(file), '..2026_11_01'), { recursive: true })
    await until(par)
  })
  expect(answers).toEqual([fra, par])
})

test(
  'a node without the file serves, says so, and takes it up when it comes',
  patient,
  async () => {
    const { daemon, file, nearest, until, isBroken } = await runAlone(1, 'later.mmdb')
    expect(daemon.logged('a geo database is not loaded; there are no tables of it')).toMatchObject({
      level: 'error',
      setting: 'geoip.dbPath',
    })
    expect(await isBroken()).toBe(true)
    // In turn; a question that is asked again on a busy machine moves the turn, too.
    const inTurn = new Set<string>()
    for (let i = 0; i < 9; i++) inTurn.add(await nearest())
    expect([...inTurn].sort()).toEqual([fra, par, iad].sort())
    writeFileSync(file, operatorDatabase())
    const isWrong = () => daemon.log().filter(({ msg }) => msg.includes('is not loaded')).length > 1
    await waitUntil('a database of another kind to be refused', isWrong)
    replace(file, cityDatabase())
    await waitUntil('a whole one', async () => !(await isBroken()))
    // The threads that answer are told after that.
    await until(fra)
    for (let i = 0; i < 4; i++) expect(await nearest()).toBe(fra)
  },
)

describe('on a node that runs', () => {
  let running: Running
  beforeAll(async () => {
    running = await run(1)
  })
  afterAll(async () => {
    await running.daemon.stop('SIGKILL')
    running.site.remove()
  })

  test('broken files keep the tables before, and metrics and log say so', patient, async () => {
    const { daemon, file, until, isBroken } = running
    replace(file, cityDatabase())
    await until(fra)
    const whole = cityDatabase('paris')
    const faults: readonly (readonly [string, () => void, RegExp])[] = [
      ['garbage', () => replace(file, Buffer.from('<html>not a database</html>')), /MMDB|metadata/],
      ['half of it', () => replace(file, whole.subarray(whole.length / 2)), /./],
      ['no file', () => rmSync(file), /there is no file/],
    ]
    const ever = () => daemon.log().filter(({ msg }) => msg.includes('is not loaded'))
    const before = ever().length
    const errors = () => ever().slice(before)
    const answers = await underLoad(daemon, async () => {
      for (const [i, [title, damage, sentence]] of faults.entries()) {
        damage()
        await waitUntil(`${title} to be seen`, () => errors().length > i)
        expect(errors()[i]).toMatchObject({
          msg: 'a geo database is not loaded; the tables before stay in use',
          setting: 'geoip.dbPath',
        })
        expect([title, errors()[i]!['error']]).toEqual([title, expect.stringMatching(sentence)])
        expect([title, await isBroken()]).toEqual([title, true])
      }
    })
    expect(answers).toEqual([fra])
    replace(file, whole)
    await until(par)
    expect(await isBroken()).toBe(false)
  })

  test('a file that is written in place, slowly, is used when it is whole', patient, async () => {
    const { daemon, file, until } = running
    replace(file, cityDatabase())
    await until(fra)
    const whole = cityDatabase('paris')
    const answers = await underLoad(daemon, async () => {
      truncateSync(file)
      for (let at = 0; at < whole.length; at += whole.length >> 3) {
        appendFileSync(file, whole.subarray(at, at + (whole.length >> 3)))
        await delay(250)
      }
      await until(par)
    })
    expect(answers).toEqual([fra, par])
  })

  test('a new configuration keeps the tables', patient, async () => {
    const { site, daemon, file, until } = running
    replace(file, cityDatabase())
    await until(fra)
    const answers = await underLoad(daemon, async () => {
      const swaps = 'gslbd_bundle_swaps_total'
      const before = (await daemon.metrics()).get(swaps)
      site.write('README.md', 'A change that means nothing to answers.\n')
      site.write('tenants/default/services/more.yaml', moreYaml)
      await site.commit('one service more')
      await site.push()
      await waitUntil('the swap', async () => (await daemon.metrics()).get(swaps) !== before)
    })
    expect(answers).toEqual([fra])
  })
})

const moreYaml = `apiVersion: gslb/v1
kind: Service
metadata: { name: more }
spec: { domain: more.example.com., pool: edge }
`
