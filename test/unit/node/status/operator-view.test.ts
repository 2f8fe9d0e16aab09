// A whole node under a clock that the test moves: what an expired record does, and what not.
import { expect, test } from 'vitest'
import { Rcode } from '#dns/rcode.ts'
import { signChannelRecord, signingKeyFromPem } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SigningKey } from '#bundle/signature/channel.ts'
import { signBundle } from '#bundle/signature/sign.ts'
import { readConfigDirectory } from '#gitops/checkout/config-directory.ts'
import { openNodeKey } from '#process/data/key.ts'
import type { DatabaseView } from '#node/stores/records.ts'
import { createOperatorView } from '#node/status/operator-view.ts'
import { RecordAlarm } from '#node/daemon/periodic.ts'
import { ThreadLoad } from '#node/status/thread-load.ts'
import { createCompiler } from '#compiler/compile.ts'
import { GitopsControl } from '#gitops/thread/control.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { DnsNode } from '#server/node/node.ts'
import { createThreadGroup } from '#server/threads/thread-group.ts'
import { ask } from '../../../support/dns/client.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { HostnameResolver } from '#inputs/resolve/hostname-resolver.ts'
import { Random } from '#lib/random.ts'
import { systemAfter } from '#lib/timer.ts'
import { systemClock } from '#lib/clock.ts'
import { onTestFinished } from 'vitest'

const noHostnames = new HostnameResolver({
  lookup: () => Promise.resolve({ ok: false, fault: 'other' }),
  allowLocal: false,
  last: null,
  clock: systemClock,
  after: systemAfter,
  random: new Random(1),
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
}).counts()
const others = {
  ...{ writeTimes: () => null, spans: () => null },
  resolver: { counts: () => noHostnames },
  updates: { counts: new Map([[Rcode.Refused, 2]]) },
  notifier: { counts: { sent: 3, acknowledged: 1, failed: 1 } },
}

const hour = 3_600_000

function signedExample(signing: SigningKey) {
  const files = readConfigDirectory('examples/quickstart')
  if (!files.ok) throw new Error(files.error)
  const compiled = createCompiler().compile(files.value, { commit: '' })
  if (!compiled.ok) throw new Error('the example compiles')
  const { digest } = compiled.bundle
  const bundle = new Uint8Array(new SharedArrayBuffer(compiled.bundle.bytes.length))
  bundle.set(compiled.bundle.bytes)
  signBundle(bundle, signing)
  return { bundle, digest }
}

/** Not started: what it says is that it has not looked yet. */
function idleGitops(dataDir: string, signingKeyPem: string) {
  return new GitopsControl({
    dataDir,
    url: '',
    branch: 'main',
    pollMs: 30_000,
    requireSignature: true,
    allowedSignersPath: '',
    channel: 'main',
    signingKeyPem,
    recordTtlMs: 24 * hour,
    resume: null,
  })
}

function logInto(logged: string[]): Log {
  return {
    info: (_: object, message: string) => void logged.push(`info: ${message}`),
    warn: (_: object, message: string) => void logged.push(`warn: ${message}`),
    error: (_: object, message: string) => void logged.push(`error: ${message}`),
  }
}

function recordOf(seq: number, digest: string, issuedAtMs: number): ChannelRecord {
  const expiresAtMs = issuedAtMs + 24 * hour
  return { channel: 'main', seq, digest, previous: '', commit: '', issuedAtMs, expiresAtMs }
}

interface Disk {
  isWritable: boolean
  anycast?: ReturnType<Parameters<typeof createOperatorView>[0]['anycast']>
  isBackedUp?: boolean
  journalError?: string
  isQueryLogFailing?: boolean
  isAudited?: boolean
  isSetupOpen?: boolean
  /** Note on the accepted commit. */
  note?: string
  deliveryPhase?: string
  deliveryFault?: string
  database?: DatabaseView
}

const noQueries = { written: 0, droppedFull: 0, droppedAway: 0, bytes: 0, isUp: false }
const keptBy = (disk: Disk) => ({
  canKeep: () => disk.isWritable,
  isBackedUp: () => disk.isBackedUp ?? true,
  backupAgeSeconds: () => null,
  dataDirectory: () => ({ freeRatio: null, isWritable: true }),
  journal: () => ({ error: disk.journalError ?? null, bytes: 0, losses: 0, limited: {} }),
  queryLog: () => ({ ...noQueries, isFailing: disk.isQueryLogFailing ?? false }),
  isAudited: () => disk.isAudited ?? true,
  isSetupOpen: () => disk.isSetupOpen ?? false,
  areChecksOff: () => false,
  newestKeyMs: () => 0,
  missingGeo: () => [],
  missingKeys: () => [],
  keyTroubles: () => [],
  absentZones: () => [],
  zoneTransfers: () => [],
  dsFaults: () => [],
  behindNodes: () => [],
  certificateBehind: () => [],
  deliveryPhase: () => disk.deliveryPhase ?? null,
  deliveryFault: () => disk.deliveryFault ?? '',
  redirects: () => ({ listener: null, targets: [] }),
  zonePushes: () => [],
  alerts: () => null,
  anycast: () => disk.anycast ?? null,
  certificates: () => [],
  database: () => disk.database ?? { isUp: true, wasThere: true },
})

const notedBy = (disk: Disk, { config, status }: Pick<GitopsControl, 'config' | 'status'>) => ({
  config,
  status: () => ({ ...status(), note: disk.note ?? '' }),
})

async function bench(
  disk: Disk = { isWritable: true },
  bus: { state: 'up' | 'away' } = { state: 'up' },
) {
  const dataDir = tempDir()
  const key = openNodeKey(dataDir)
  if (!key.ok) throw new Error(key.error)
  const signing = signingKeyFromPem(key.value.pem)
  let nowMs = 1_800_000_000_000
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() }
  const logged: string[] = []
  const log = logInto(logged)
  const node = new DnsNode({
    createThreads: createThreadGroup,
    threads: {
      listenAddr: '127.0.0.1',
      port: 0,
      threads: 1,
      settings: { udpPayloadSize: 1_232, nsid: '', versionBind: '', tcpIdleTimeoutMs: 10_000 },
      tcpLimits: {},
      seed: 1,
    },
    store: new BundleStore(dataDir),
    trusted: [signing],
    ...{ health: null, geo: null, clock, log },
  })
  const started = await node.start()
  if (!started.ok) throw new Error(started.error)
  onTestFinished(() => node.stop())
  const gitops = notedBy(disk, idleGitops(dataDir, key.value.pem))
  const view = createOperatorView({
    node,
    geo: () => [],
    gitops,
    health: null,
    ...others,
    shared: () => ({ kind: 'redis', sinceMs: 0, fault: null, localSessions: 0, ...bus }),
    load: new ThreadLoad(clock),
    ...keptBy(disk),
    clock,
    ...{ branch: 'main', hasRemote: true, nodeName: 'n1', requestCounts: () => [] },
    commitToActiveSeconds: () => null,
    repository: () => ({ looseObjects: null, packings: { done: 0, failed: 0, 'no-git': 0 } }),
    ...{ feedClients: () => 0, given: () => null, fleet: () => null },
    licenceWarnings: () => [],
  })
  const { bundle, digest } = signedExample(signing)
  const publish = async (seq: number, issuedAtMs: number) => {
    const record = recordOf(seq, digest, issuedAtMs)
    return node.activate({ signedRecord: signChannelRecord(record, signing), bundle })
  }
  const answers = async (): Promise<number> => {
    const reply = await ask({ host: '127.0.0.1', port: started.value.port }, 'www.example.com. A')
    return reply.answer.length
  }
  return {
    node,
    view,
    logged,
    publish,
    answers,
    alarm: new RecordAlarm(log),
    now: () => nowMs,
    jump: (ms: number) => {
      nowMs += ms
    },
  }
}

const codes = (reasons: readonly { readonly code: string }[]): readonly string[] =>
  reasons.map(({ code }) => code)

test('before the first bundle, health is starting, and the node is not ready', async () => {
  const { view } = await bench()
  expect(view.health().status).toBe('starting')
  expect(codes(view.health().reasons)).toContain('no-bundle')
  expect(codes(view.unready())).toEqual(['no-bundle', 'configuration-unread'])
  expect(view.gitops()).toMatchObject({ sync: 'starting', active: null, reason: null })
})

test('past the expiry there is one alarm; answers go on, and a renewal clears it', async () => {
  const { node, view, logged, publish, answers, alarm, now, jump } = await bench()
  expect(await publish(1, now())).toEqual({ ok: true, value: 'activated' })
  alarm.check(node.status())
  expect(view.health().status).toBe('ok')

  jump(25 * hour)
  for (let i = 0; i < 3; i++) alarm.check(node.status())
  expect(logged.filter((line) => line.includes('expiry'))).toEqual([
    expect.stringMatching(/^error: the channel record is past its expiry: answers go on/),
  ])
  expect(view.health().status).toBe('degraded')
  expect(view.gitops().node).toMatchObject({ expired: true, ageSeconds: 25 * 3_600 })
  expect((await view.metrics(undefined)).text).toContain('gslbd_bundle_expired 1')
  expect(await answers()).toBe(1)

  expect(await publish(1, now())).toEqual({ ok: true, value: 'unchanged' })
  for (let i = 0; i < 3; i++) alarm.check(node.status())
  expect(logged.filter((line) => line.includes('valid again'))).toHaveLength(1)
  expect(view.health().status).toBe('ok')
  expect(view.gitops().node).toMatchObject({ expired: false, ageSeconds: 0, seq: 1 })
})

test('a clock that was set back expires nothing, and ages stay at 0', async () => {
  const { node, view, publish, answers, now, jump } = await bench()
  await publish(1, now())
  jump(-48 * hour)
  expect(node.status().expired).toBe(false)
  expect(view.gitops().node.ageSeconds).toBe(0)
  expect(view.health().status).toBe('ok')
  expect(await answers()).toBe(1)
})

test('a commit that no guardrail held, for it is a repair, has a note', async () => {
  const disk: Disk = { isWritable: true }
  const { view } = await bench(disk)
  expect(view.gitops().note).toBeNull()
  disk.note = 'Commit aaaaaaaaaa goes back to commit cccccccccc.'
  expect(view.gitops().note).toBe(disk.note)
})

test('a publication that is refused shows as degraded until a good one comes', async () => {
  const { view, publish, answers, now } = await bench()
  await publish(5, now())
  expect((await publish(4, now())).ok).toBe(false)
  expect(view.health().status).toBe('degraded')
  expect(view.gitops().node.refused).toMatchObject({ seq: 4, code: 'rollback' })
  expect(await answers()).toBe(1)
  await publish(6, now())
  expect(view.health().status).toBe('ok')
  expect(view.gitops().node.refused).toBeNull()
})

test('a Redis that is not reached is degraded, until it is', async () => {
  const bus: { state: 'up' | 'away' } = { state: 'away' }
  const { view, publish, now } = await bench(undefined, bus)
  await publish(1, now())
  expect(view.health().status).toBe('degraded')
  expect((await view.metrics(undefined)).text).toContain('gslbd_redis_up 0')
  bus.state = 'up'
  expect(view.health().status).toBe('ok')
  expect((await view.metrics(undefined)).text).toContain('gslbd_redis_up 1')
})

test('a data directory that cannot be written is degraded, until it can be', async () => {
  const disk = { isWritable: true }
  const { view, publish, now } = await bench(disk)
  await publish(1, now())
  expect(view.health().status).toBe('ok')
  disk.isWritable = false
  expect(view.health().status).toBe('degraded')
  disk.isWritable = true
  expect(view.health().status).toBe('ok')
})

const well: Disk['anycast'] = {
  ...{ isAnnounced: true, isGuarded: true, reason: null, driver: { isReachable: true } },
  counts: { announced: 1, withdrawn: 1, answered: 9, silent: 0, driverFaults: 0, overruled: 0 },
}

const causes: readonly (readonly [what: string, code: string, fault: Partial<Disk>])[] = [
  ['a backup that could not be taken', 'backup-failed', { isBackedUp: false }],
  ['a journal on a full disk', 'journal-ended', { journalError: 'ENOSPC' }],
  ['a query log on a full disk', 'query-log', { isQueryLogFailing: true }],
  ['an audit log that cannot be written', 'audit-log', { isAudited: false }],
  ['a change that went back', 'delivery-stopped', { deliveryPhase: 'returned' }],
  ['no delivery goes on', 'delivery-stopped', { deliveryFault: 'The database is away.' }],
  ['a directory that cannot be written', 'data-directory', { isWritable: false }],
  ['a database away', 'database-away', { database: { isUp: false, wasThere: true } }],
  ['a BGP daemon away', 'bgp-away', { anycast: { ...well, driver: { isReachable: false } } }],
  ['a node that withdrew', 'addresses-withdrawn', { anycast: { ...well, isAnnounced: false } }],
  ['a node without a guard', 'bgp-unguarded', { anycast: { ...well, isGuarded: false } }],
]

test('each cause is degraded, with its reason, as long as it lasts', async () => {
  const disk: Disk = { isWritable: true }
  const { view, publish, now } = await bench(disk)
  await publish(1, now())
  const sound = { ...disk }
  for (const [what, code, fault] of causes) {
    expect(view.health(), what).toEqual({ status: 'ok', reasons: [] })
    Object.assign(disk, fault)
    expect(view.health(), what).toMatchObject({ status: 'degraded', reasons: [{ code }] })
    for (const name of Object.keys(fault)) Reflect.deleteProperty(disk, name)
    Object.assign(disk, sound)
  }
  expect(view.health()).toEqual({ status: 'ok', reasons: [] })
})

test('setup that is open is said, and is no fault', async () => {
  const disk: Disk = { isWritable: true, isSetupOpen: true }
  const { view, publish, now } = await bench(disk)
  await publish(1, now())
  expect(view.health()).toMatchObject({ status: 'ok', reasons: [{ code: 'setup-open' }] })
  disk.isWritable = false
  expect(view.health().status).toBe('degraded')
})

test('a database never reached keeps a node unready, one lost later does not', async () => {
  const disk: Disk = { isWritable: true, database: { isUp: false, wasThere: false } }
  const { view, publish, now } = await bench(disk)
  await publish(1, now())
  expect(codes(view.unready())).toContain('database-away')
  disk.database = { isUp: false, wasThere: true }
  expect(codes(view.unready())).not.toContain('database-away')
})
