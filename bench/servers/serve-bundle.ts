// The server under test: a process that serves bundles from files as a node does, and swaps them on
// request. Run by `startGslbd`; uses the channel of its parent and ends with it.
import { generateKeyPairSync } from 'node:crypto'
import { signChannelRecord, signingKeyFromPem } from '#bundle/signature/channel.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { createMachineClock, systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { noGeoBuffers } from '#routing/geo/geo-tables.ts'
import type { GeoBuffers } from '#routing/geo/geo-tables.ts'
import { createRateMemory } from '#answer/rate-limit/rate-memory.ts'
import { createHealthMonitor } from '#health/view/monitor.ts'
import { DnsNode } from '#server/node/node.ts'
import { ZoneKeys } from '#server/signing/zone-keys.ts'
import { QueryLog } from '#answer/query-log/query-log.ts'
import { createThreadGroup } from '#server/threads/thread-group.ts'
import type { ThreadGroupParts } from '#server/threads/threads-port.ts'
import type { Publication } from '#bundle/signature/publication.ts'
import { cookieCells } from '#test/support/dns/cookies.ts'
import { createMemoryHealthVerdicts } from '#test/support/memory-health-verdicts.ts'
import { residentBytes } from '../support/process-cpu.ts'
import { worldCountries } from '../data/geo-tables.ts'
import { readShared } from '../data/bundle-file.ts'
import { targetsOf } from '../data/probe-targets.ts'
import { rateLimitSettings } from '../data/rate-limit.ts'

export interface ServeOptions {
  /** Served in turn: the first at the start, the next at each swap. */
  readonly paths: readonly string[]
  readonly threads: number
  /** Loads the countries of the world's networks. */
  readonly hasCountries?: boolean
  /** Left out: no query is logged. */
  readonly queryLog?: { readonly file: string; readonly sampleEvery: number } | undefined
  /** Folder of the keys of signed zones, made if missing. */
  readonly keyDirectory?: string | undefined
  /** Answers of each kind, a second, to one network; left out: no limit, and no cookies. */
  readonly rateLimit?: { readonly perSecond: number; readonly slip: number } | undefined
  /** DNS over TLS and HTTPS; left out: neither. */
  readonly tls?: ThreadGroupParts['tls']
  /** Members probed in parallel: their number, and the ports of their servers. */
  readonly probing?: { readonly targets: number; readonly ports: readonly number[] }
}

export type ToServer = 'swap' | 'counters'

export interface Ready {
  readonly port: number
  readonly residentBytes: number
}
export interface Swapped {
  /** From the publication in memory until the last thread has adopted it. */
  readonly activateMs: number
  /** The longest pause of a responder for it, in microseconds. */
  readonly pauseMicros: number
  readonly residentBytes: number
}
export interface Counted {
  /** Queries answered by the responders since the start. */
  readonly queries: number
  readonly batches: number
  /** Records written to the query log. */
  readonly logged: number
}

const plainSettings = { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 10_000 }

const { privateKey } = generateKeyPairSync('ed25519')
const key = signingKeyFromPem(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())

/** @param seq 1, 2, 3 … */
function publication(path: string, seq: number): Publication {
  const bundle = readShared(path)
  const loaded = loadBundle(bundle)
  if (!loaded.ok) throw new Error(loaded.error.message)
  signBundle(bundle, key)
  const issuedAtMs = Math.floor(systemClock.nowMs())
  const record = {
    channel: 'bench',
    seq,
    digest: loaded.value.digest,
    previous: '',
    commit: '',
    issuedAtMs,
    expiresAtMs: issuedAtMs + 86_400_000,
  }
  return { signedRecord: signChannelRecord(record, key), bundle }
}

const worldGeo = (): GeoBuffers => ({ ...noGeoBuffers, country: worldCountries() })

const log: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
}

function startQueryLog({ queryLog, threads }: ServeOptions): QueryLog | undefined {
  if (queryLog === undefined) return undefined
  const { file: path, sampleEvery } = queryLog
  const started = new QueryLog({
    to: { kind: 'file', path, fileBytesMax: 1e9, keptFiles: 0 },
    ...{ sampleEvery, threads: threads + 1, log },
    ...{ node: 'bench', version: 'gslbd', truncateClients: false },
  })
  started.start()
  return started
}

function openKeys({ keyDirectory }: ServeOptions): ZoneKeys | null {
  if (keyDirectory === undefined) return null
  return new ZoneKeys({
    ...{ directory: keyDirectory, secretKey: null, mayGenerate: true },
    ...{ clock: systemClock, log },
  })
}

/** @returns what threads limit answers by, and the secrets of cookies */
function limitsOf({ rateLimit, threads }: ServeOptions) {
  if (rateLimit === undefined) return { rateLimit, cookies: undefined }
  const { perSecond, slip } = rateLimit
  const settings = rateLimitSettings(perSecond, slip, 2_000)
  const nowSeconds = Math.floor(systemClock.nowMs() / 1_000)
  return {
    rateLimit: createRateMemory(settings, threads + 1, 1, createMachineClock()()),
    cookies: cookieCells({ nowSeconds }),
  }
}

/** Connections of a load generator come from one address, and stay open while others are made. */
const tcpLimits = {
  connectionsMax: 20_000,
  connectionsPerClientMax: 20_000,
  idleTimeoutMs: 600_000,
} as const

async function serve(options: ServeOptions): Promise<void> {
  const { paths, threads, hasCountries, probing, tls } = options
  const queryLog = startQueryLog(options)
  const { rateLimit, cookies } = limitsOf(options)
  const node = new DnsNode({
    createThreads: createThreadGroup,
    threads: {
      listenAddr: '127.0.0.1',
      port: 0,
      threads,
      settings: { ...plainSettings, cookies },
      tcpLimits: tls === undefined ? {} : tcpLimits,
      ...(tls === undefined ? {} : { tls }),
      rateLimit,
      seed: 1,
      queryLog: queryLog?.rings,
    },
    store: null,
    trusted: [key],
    health: null,
    signing: openKeys(options),
    geo: hasCountries === true ? { onChange: (take) => take(worldGeo()) } : null,
    clock: systemClock,
    log,
  })
  const started = await node.start()
  if (!started.ok) throw new Error(started.error)
  let seq = 0
  const swap = async (): Promise<Swapped> => {
    const next = publication(paths[seq % paths.length]!, ++seq)
    const startedMs = performance.now()
    const activated = await node.activate(next)
    if (!activated.ok) throw new Error(activated.error.message)
    const activateMs = performance.now() - startedMs
    const pauseMicros = node.status().swapPauseMicros
    return { activateMs, pauseMicros, residentBytes: residentBytes('self').now }
  }
  const { residentBytes: resident } = await swap()
  const count = (): Counted => {
    const rows = node.counters()
    const sum = (of: (row: (typeof rows)[number]) => number): number =>
      rows.reduce((total, row) => total + of(row), 0)
    const logged = queryLog?.counts().written ?? 0
    return { queries: sum((row) => row.udpQueries), batches: sum((row) => row.batches), logged }
  }
  process.on('message', (message: ToServer) => {
    if (message === 'counters') process.send?.(count())
    else void swap().then((swapped) => process.send?.(swapped))
  })
  if (probing !== undefined) {
    const verdicts = createMemoryHealthVerdicts()
    const monitor = createHealthMonitor({ verdicts, log, clock: systemClock })
    monitor.start()
    monitor.setTargets(targetsOf('http', probing.targets, probing.ports))
  }
  process.once('disconnect', () => process.exit())
  process.send?.({ port: started.value.port, residentBytes: resident } satisfies Ready)
}

await serve(JSON.parse(process.argv[2] ?? '') as ServeOptions)
