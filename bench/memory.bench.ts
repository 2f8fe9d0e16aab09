// Measures a node's resident memory, at rest and at its peak, with the packaged program.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '#test/support/wait-until.ts'
import { mib } from './report.ts'
import type { BenchContext, Figure, Report } from './report.ts'
import { systemKey, whatItSaid } from './servers/api-daemon.ts'
import { chainWay, planFiles } from './data/plan-files.ts'
import { worldPath } from './data/geo-tables.ts'
import { manyFiles } from './data/many-files.ts'
import type { ConfigFile } from './data/many-files.ts'
import { subnetLoad } from './load/subnet-load.ts'
import { loadCore } from './servers/duel.ts'
import { worldMap } from './servers/geo-servers.ts'
import { ConfigRepository, probeName } from './servers/config-repository.ts'
import { installProgram } from './servers/installed.ts'
import type { Installed } from './servers/installed.ts'
import { residentBytes } from './support/process-cpu.ts'
import { runToEnd, startProgram } from './servers/program.ts'
import type { Program } from './servers/program.ts'
import { bundleToken, runningPorts } from './servers/pulling-nodes.ts'
import { answersWith, QueryClient } from './load/query-client.ts'
import { serveTree } from './servers/tree-server.ts'

const address = '192.0.2.1'
const patience = { timeoutMs: 120_000 } as const

interface Taken {
  readonly restBytes: number
  readonly highestBytes: number
}

export async function runMemory({ isQuick, directory, say }: BenchContext): Promise<Report> {
  const services = isQuick ? 100 : 10_000
  const program = await installProgram(join(directory, 'program'))
  const keys = { GSLB_API_KEY: systemKey, GSLB_BUNDLE_TOKEN: bundleToken }
  const installed: Installed = { ...program, env: { ...program.env, ...keys } }
  say(`${services} services: the first start`)
  const home = join(directory, 'all')
  await fill(installed, home, manyFiles(services))
  // From the second start on, compiled code is in the cache.
  await measured(installed, settingsOf(home), 5_000)
  say('a node that is everything, at rest')
  const all = await measured(installed, settingsOf(home), isQuick ? 3_000 : 60_000)
  const restMs = isQuick ? 2_000 : 10_000
  const dns = await measuredFar(installed, home, restMs)
  const map = worldMap('chain', isQuick ? 10 : 1_000)
  say(
    `${map.services} services in ${map.countries.length} countries each, a node that only answers`,
  )
  const geoHome = join(directory, 'geo')
  const ways = { ways: [chainWay], regions: map.countries }
  await fill(installed, geoHome, planFiles(map.services, 0, ways))
  const geo = await measuredFar(installed, geoHome, restMs, map.services)
  return reportOf(services, { all, dns, geo })
}

/** @param asked services first queried by clients from all over the world */
async function measuredFar(
  installed: Installed,
  home: string,
  restMs: number,
  asked = 0,
): Promise<Taken> {
  const tree = `${home}-tree`
  await runToEnd(installed.gslbd, ['publish', tree, '--data-dir', dataOf(home)], installed)
  const server = await serveTree(tree)
  const geoip = asked === 0 ? {} : { geoip: { dbPath: worldPath } }
  const far = await farHome(`${home}-far`, dataOf(home), { url: server.url, geoip })
  const qnames = Array.from({ length: asked }, (_, i) => `s${i}.example.com`)
  try {
    await measured(installed, settingsOf(far), 5_000)
    return await measured(installed, settingsOf(far), restMs, qnames)
  } finally {
    await server.close()
  }
}

function reportOf(services: number, taken: Readonly<Record<string, Taken>>): Report {
  const titles: Readonly<Record<string, string>> = {
    all: 'everything in one (Git, API, database), without probes',
    dns: 'role `dns`',
    geo: 'role `dns`, 1,000 services of 31 members each by country, asked by all the world',
  }
  const figures: Record<string, Figure> = {}
  const megabytes = (bytes: number): number => bytes / 1_048_576
  for (const [name, { restBytes, highestBytes }] of Object.entries(taken)) {
    figures[`memory.${name}.rest`] = { value: megabytes(restBytes), unit: 'MiB', n: 1 }
    figures[`memory.${name}.highest`] = { value: megabytes(highestBytes), unit: 'MiB', n: 1 }
  }
  const rows = Object.entries(taken).map(([name, { restBytes, highestBytes }]) => [
    titles[name] ?? name,
    mib(restBytes),
    mib(highestBytes),
  ])
  return {
    tables: [
      {
        title: `Resident memory of a node; ${services} services where none are named`,
        columns: ['node', 'at rest MiB', 'highest MiB'],
        rows,
        notes: [
          'a start from the stored bundle, with the cache of compiled code of the start before',
          'at rest: a minute after the start; ten seconds for the role dns',
        ],
      },
    ],
    figures,
  }
}

const dataOf = (home: string): string => join(home, 'data')
const settingsOf = (home: string): string => join(home, 'gslbd.yaml')

/** Makes a data directory with the commit of many services, its bundle and its database. */
async function fill(
  installed: Installed,
  home: string,
  files: Iterable<ConfigFile>,
): Promise<void> {
  const dataDir = dataOf(home)
  mkdirSync(dataDir, { recursive: true })
  const repository = new ConfigRepository(home)
  writeFileSync(join(dataDir, 'allowed_signers'), await repository.makeKey())
  const settings = {
    ...{ dataDir, dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 } },
    ...{ api: { enabled: true, port: 0 }, health: { enabled: false } },
  }
  writeFileSync(settingsOf(home), JSON.stringify(settings))
  await running(installed, settingsOf(home), async (_, port) => {
    const origin = join(dataDir, 'config.git')
    await waitUntil('the origin', () => existsSync(join(origin, 'HEAD')), patience)
    await repository.open(origin)
    repository.writeWithProbe(files, address)
    await repository.commitAndPush(['.'])
    const client = new QueryClient(port)
    await client.open()
    await client.waitFor(probeName, answersWith(address), { patienceMs: patience.timeoutMs })
    client.close()
    // The database is made in parallel, and takes longer.
    await waitUntil('the database', () => existsSync(join(dataDir, 'database')), patience)
  })
}

async function farHome(
  home: string,
  from: string,
  { url, geoip }: { readonly url: string; readonly geoip: object },
): Promise<string> {
  mkdirSync(home, { recursive: true })
  const key = join(from, 'keys/node.pem')
  const keys = join(home, 'bundle_keys')
  await runToEnd('openssl', ['pkey', '-in', key, '-pubout', '-out', keys])
  const settings = {
    ...{ dataDir: dataOf(home), roles: ['dns'], bundle: { urls: [url], keys } },
    ...geoip,
    ...{ dns: { listenAddr: '127.0.0.1', port: 0, threads: 1 } },
    ...{ api: { enabled: true, port: 0 }, health: { enabled: false } },
  }
  writeFileSync(settingsOf(home), JSON.stringify(settings))
  return home
}

/** @param qnames first queried by clients from all over the world */
async function measured(
  installed: Installed,
  settings: string,
  restMs: number,
  qnames: readonly string[] = [],
): Promise<Taken> {
  return await running(installed, settings, async ({ pid }, port) => {
    if (qnames.length > 0) await subnetLoad({ port, qnames, seconds: restMs / 1_000 }, loadCore)
    await sleep(restMs)
    const { now, peak } = residentBytes(pid)
    return { restBytes: now, highestBytes: peak }
  })
}

async function running<T>(
  { gslbd, env }: Installed,
  settings: string,
  use: (program: Program, port: number) => Promise<T>,
): Promise<T> {
  const program = startProgram(gslbd, ['serve', '--settings', settings], { env })
  try {
    return await use(program, (await runningPorts(program)).port)
  } catch (error) {
    throw whatItSaid(program, error)
  } finally {
    await program.stop()
  }
}
