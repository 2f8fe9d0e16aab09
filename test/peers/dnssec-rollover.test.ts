// A zone whose keys roll on a hand-moved clock, below a parent that BIND serves and that reads CDS
// by dnssec-cds: unbound, which keeps its cache all the time, never finds it bogus. Nor does
// another one that knows no parent, and follows the keys themselves (RFC 5011).
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { KeyUse, keyUses } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import type { ParentView, RollPolicy } from '#dns/dnssec/rollover.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { ok } from '#lib/result.ts'
import { KeyKeeper } from '#server/signing/key-keeper.ts'
import { waitingLine } from '#server/signing/key-status.ts'
import { firstRecord, ZoneKeys } from '#server/signing/zone-keys.ts'
import { pool, service } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const zone = 'example.org.'
const minute = 60_000
/** All TTLs, so that a whole life of caches passes between two steps. */
const ttlSeconds = 1

const text = `$ORIGIN ${zone}
@ 1 SOA ns1 hostmaster 1 3600 600 86400 1
@ 1 NS ns1
ns1 1 A 127.0.0.1
www 1 A 192.0.2.80
alias 1 CNAME www
*.star 1 TXT "star"
`
const questions = ['www A', 'alias A', 'app A', 'x.star TXT', 'none A', 'www TXT'].map((one) =>
  one.replace(' ', `.${zone} `),
)

function model() {
  const written = modelOfWritten({ name: zone, text })
  return {
    ...written,
    zones: written.zones.map((one) => ({ ...one, algorithm: 13 })),
    pools: [pool(1, ['192.0.2.10'])],
    services: [service(1, `app.${zone}`, { algorithm: 'failover', ttlSeconds })],
  }
}

const silent = { info: () => {}, warn: () => {}, error: () => {} }
const policy: RollPolicy = {
  ...{ model: null, algorithm: null, defaultAlgorithm: 13, kskMs: null, zskMs: null },
  ...{ propagationMs: minute, parentMs: 10 * minute },
}

let folder = ''
let records: readonly KeyRecord[] = []
let nowMs = Date.now()
let rules = policy
let ds: readonly string[] = []
let readsCds = true
let changed: () => void = () => {}
let node: RunningNode
let keeper: KeyKeeper
const programs: ChildProcess[] = []
const ports = { named: 0, unbound: 0, follower: 0 }

const run = async (program: string, ...args: readonly string[]): Promise<string> => {
  const inFolder = ['-c', 'cd "$0" && exec "$@"', folder, program, ...args]
  const said = await saidBy('sh', inFolder)
  expect({ program, ...said }).toMatchObject({ code: 0 })
  return said.text
}

async function startProgram(command: readonly string[], port: number, name: string) {
  const child = spawn(command[0]!, command.slice(1), { cwd: folder, stdio: 'ignore' })
  programs.push(child)
  await waitUntil(`${command[0]} to listen`, () =>
    ask({ host: '127.0.0.1', port }, `${name} SOA`, { rd: true }).then(
      () => true,
      () => false,
    ),
  )
  return child
}

let serial = 1
let named: ChildProcess | undefined
/** The parent has these DS records from now on. */
async function delegate(next: readonly string[]): Promise<void> {
  const lines = next.map((one) => `${zone} 1 DS ${one}`)
  const parent = `$ORIGIN org.
@ 1 SOA ns hostmaster ${++serial} 3600 600 86400 1
@ 1 NS ns
ns 1 A 127.0.0.1
${zone} 1 NS ns1.${zone}
ns1.${zone} 1 A 127.0.0.1
${lines.join('\n')}
`
  writeFileSync(join(folder, 'org.zone'), parent)
  await run('dnssec-signzone', '-q', '-z', '-S', '-o', 'org.', '-f', 'org.signed', 'org.zone')
  ds = next
  if (named === undefined) return
  named.kill('SIGHUP')
  const server = { host: '127.0.0.1', port: ports.named }
  await waitUntil('named to have the zone', async () => {
    const { answer } = await ask(server, 'org. SOA')
    return answer[0]?.rdataText.includes(` ${serial} `) === true
  })
}

/** What a parent with `dnssec-cds` makes of CDS: it believes them by the DS that it has. */
async function readCds(): Promise<void> {
  const dig = ['@127.0.0.1', '-p', `${node.port}`, '+dnssec', '+noall', '+answer', '+tcp']
  const said = await Promise.all(
    ['DNSKEY', 'CDS', 'CDNSKEY'].map((type) => run('dig', ...dig, zone, type)),
  )
  writeFileSync(join(folder, 'child'), said.join(''))
  writeFileSync(join(folder, `dsset-${zone}`), ds.map((one) => `${zone} IN DS ${one}\n`).join(''))
  const args = ['-a', 'SHA-256', '-s', '-864000', '-f', 'child', '-d', `dsset-${zone}`, zone]
  const found = await run('dnssec-cds', ...args)
  const next = found.split('\n').flatMap((line) => /\sDS\s+(.*)$/.exec(line)?.slice(1, 2) ?? [])
  const forms = next.map((one) => {
    const [tag, algorithm, type, ...digest] = one.trim().split(/\s+/)
    return `${tag} ${algorithm} ${type} ${digest.join('').toUpperCase()}`
  })
  const isSame = forms.toSorted().join().toUpperCase() === ds.toSorted().join().toUpperCase()
  if (!isSame && forms.length > 0) await delegate(forms)
}

let asked = 0
/** Names that nobody has asked for: their answers are new, and the keys may be cached. */
const newQuestions = (): readonly string[] =>
  ['star TXT', 'nowhere A'].map((one) => `x${++asked}.${one.replace(' ', `.${zone} `)}`)

/** What unbound says, with whatever it has cached. */
async function askUnbound(isSecure: boolean): Promise<void> {
  const server = { host: '127.0.0.1', port: ports.unbound }
  for (const question of [...newQuestions(), ...questions]) {
    const reply = await ask(server, question, { rd: true, opt: { dnssecOk: true } })
    const said = { question, rcode: reply.rcode, ad: reply.ad, uses: stateOf() }
    expect(said).toEqual({ question, rcode: 0, ad: isSecure, uses: stateOf() })
  }
  const follower = { host: '127.0.0.1', port: ports.follower }
  for (const question of [...newQuestions(), questions[0]!]) {
    const { rcode, ad } = await ask(follower, question, { rd: true, opt: { dnssecOk: true } })
    const said = { follower: question, rcode, ad, uses: stateOf() }
    expect(said).toEqual({ follower: question, rcode: 0, ad: true, uses: stateOf() })
  }
}

/** As keys are shown and used: letters of what each does. */
function stateOf(): string {
  const letters = [
    [KeyUse.Published, 'P'],
    [KeyUse.SignsRecords, 'R'],
    [KeyUse.SignsKeys, 'K'],
    [KeyUse.InCds, 'C'],
  ] as const
  return keyUses(records)
    .filter(({ use }) => use !== 0)
    .map(({ record, use }) => {
      const does = letters.map(([bit, letter]) => ((use & bit) === 0 ? '-' : letter)).join('')
      return `${record.role}${record.algorithm}:${does}`
    })
    .join(' ')
}

async function cachesPass(): Promise<void> {
  // A resolver counts whole seconds.
  const endMs = Date.now() + (ttlSeconds + 1) * 1_000 + 100
  await waitUntil('what is cached to be gone', () => Promise.resolve(Date.now() > endMs))
}

/** By tag: what the follower makes of each key, as unbound writes it down. */
function followed(): ReadonlyMap<number, string> {
  const text = readFileSync(join(folder, 'follower.key'), 'utf8')
  const found = text.matchAll(/;\{id = (\d+) .*;;state=\d \[\s*(\w+)\s*\]/g)
  return new Map(Array.from(found, ([, tag, state]) => [Number(tag), state!]))
}

/** Its hold-down of a new key is a second, in the place of 30 days. */
async function holdDownPasses(): Promise<void> {
  const shown = keyUses(records).filter(({ use }) => (use & KeyUse.SignsKeys) !== 0)
  await waitUntil('the follower to trust all keys that sign keys', () => {
    const states = followed()
    return Promise.resolve(shown.every(({ record }) => states.get(record.tag) === 'VALID'))
  })
}

/** Looks until nothing changes any more, and asks at each step; @returns the states on the way */
async function settle(): Promise<readonly string[]> {
  const states = [stateOf()]
  // What has begun the roll was a step as well.
  expect(await node.node.settled(5_000)).toBe(true)
  await askUnbound(ds.length > 0)
  await cachesPass()
  await holdDownPasses()
  for (let idle = 0; idle < 40; idle++) {
    nowMs += 10 * minute
    // So that it has the keys of before the step.
    await askUnbound(ds.length > 0)
    await keeper.look()
    if (stateOf() === states.at(-1)) {
      if (readsCds && ds.length > 0 && idle % 7 === 6) {
        const before = ds
        await readCds()
        if (before !== ds) {
          idle = 0
          await askUnbound(true)
          await cachesPass()
          await askUnbound(true)
        }
      }
      continue
    }
    idle = 0
    states.push(stateOf())
    expect(await node.node.settled(5_000)).toBe(true)
    // With caches of before, then without, then with what this step has given.
    await askUnbound(ds.length > 0)
    await cachesPass()
    await holdDownPasses()
    await askUnbound(ds.length > 0)
  }
  return states
}

/** The parent, and a resolver that trusts its key. */
async function startOthers(): Promise<void> {
  await run('dnssec-keygen', '-q', '-a', 'ECDSAP256SHA256', '-f', 'KSK', 'org.')
  ports.named = await freePort()
  ports.unbound = await freePort()
  await delegate([])
  writeFileSync(
    join(folder, 'named.conf'),
    `options { directory "."; listen-on port ${ports.named} { 127.0.0.1; }; listen-on-v6 { none; };
pid-file none; session-keyfile none; recursion no; };
controls { };
zone "org" { type primary; file "org.signed"; };
`,
  )
  named = await startProgram(['/usr/sbin/named', '-g', '-c', 'named.conf'], ports.named, 'org.')
  const anchor = (await run('sh', '-c', 'dnssec-dsfromkey -2 Korg.*.key')).trim()
  const stub = `stub-zone:\n  name: "org."\n  stub-addr: 127.0.0.1@${ports.named}\n`
  const trusts = `trust-anchor: "${anchor}"`
  writeFileSync(join(folder, 'unbound.conf'), unboundConf(ports.unbound, trusts) + stub)
  await startProgram(['/usr/sbin/unbound', '-d', '-c', 'unbound.conf'], ports.unbound, 'org.')
  ports.follower = await freePort()
  const first = records[0]!
  const rdata = Buffer.from(first.publicKey.subarray(4)).toString('base64')
  writeFileSync(join(folder, 'follower.key'), `${zone} IN DNSKEY 257 3 13 ${rdata}\n`)
  const follows = `auto-trust-anchor-file: "follower.key"
  permit-small-holddown: yes
  add-holddown: 1`
  writeFileSync(join(folder, 'follower.conf'), unboundConf(ports.follower, follows))
  await startProgram(['/usr/sbin/unbound', '-d', '-c', 'follower.conf'], ports.follower, zone)
}

const unboundConf = (port: number, trusts: string): string =>
  `server:
  interface: 127.0.0.1
  port: ${port}
  do-daemonize: no
  chroot: ""
  username: ""
  directory: "."
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "validator iterator"
  ${trusts}
  val-bogus-ttl: 1
  infra-host-ttl: 1
  qname-minimisation: no
remote-control:
  control-enable: no
stub-zone:
  name: "${zone}"
  stub-addr: 127.0.0.1@${node.port}
`

beforeAll(async () => {
  folder = makeTempDir('rollover')
  records = [firstRecord(zone, generateZoneKey(signingAlgorithm(13)!), nowMs)]
  const keys = new ZoneKeys({
    directory: join(folder, 'dnssec'),
    source: {
      ...{ place: 'the test', makeFirst: null, faults: () => new Map() },
      keys: () => new Map([[zone, records]]),
      onChange: (handler) => void (changed = handler),
    },
    ...{ secretKey: null, mayGenerate: false, clock: { nowMs: () => Date.now() }, log: silent },
  })
  node = await startNode(model(), { signing: keys })
  keeper = new KeyKeeper({
    vault: {
      keys: () => new Map([[zone, records]]),
      change: async (_zone, change) => {
        const after = change(records)
        if (!after.ok) return { ok: false, error: { code: 'refused', message: after.error } }
        records = after.value
        changed()
        return ok(records)
      },
    },
    zones: () => [{ name: zone, policy: rules, keyTtlMs: 1_000, longestTtlMs: 1_000 }],
    parentOf: async (): Promise<ParentView> => ({ onAll: ds, onAny: ds }),
    looks: { of: () => undefined, write: () => undefined },
    clock: { nowMs: () => nowMs },
    log: silent,
  })
  await startOthers()
}, 60_000)

afterAll(async () => {
  for (const child of programs) {
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }
  await node?.stop()
  removeTempDir(folder)
})

const roll = async (role: 'csk' | 'ksk' | 'zsk'): Promise<readonly string[]> => {
  const begun = await keeper.begin(zone, { role, isEmergency: false })
  expect(begun.ok).toBe(true)
  return settle()
}

test('going secure: the DS record is asked for when everything is signed', async () => {
  await askUnbound(false)
  expect(await settle()).toEqual(['csk13:PRK-', 'csk13:PRKC'])
  const [waiting] = keeper.views()[0]!.waiting
  expect(waiting).toMatchObject({ for: 'parent' })
  if (waiting?.for === 'parent') await delegate([waiting.ds])
  // That the zone was insecure is kept for longer than a TTL.
  const server = { host: '127.0.0.1', port: ports.unbound }
  await waitUntil('unbound to find the zone secure', async () => {
    const reply = await ask(server, newQuestions()[0]!, { rd: true, opt: { dnssecOk: true } })
    return reply.ad
  })
  await askUnbound(true)
  expect(await settle()).toEqual(['csk13:PRKC'])
  expect(keeper.views()[0]!.waiting).toEqual([])
}, 60_000)

test('a CSK is followed by another one', async () => {
  expect(await roll('csk')).toEqual([
    'csk13:PRKC csk13:P-K-',
    'csk13:P-K- csk13:PRKC',
    'csk13:PRKC',
  ])
}, 60_000)

test('a CSK is followed by a KSK and a ZSK', async () => {
  rules = { ...policy, model: 'kskzsk' }
  expect(await settle()).toEqual([
    'csk13:PRKC',
    'csk13:PRKC ksk13:P-K- zsk13:P---',
    'csk13:P-K- ksk13:P-KC zsk13:PR--',
    'ksk13:P-KC zsk13:PR--',
  ])
}, 60_000)

test('a ZSK is followed by another one', async () => {
  expect(await roll('zsk')).toEqual([
    'ksk13:P-KC zsk13:PR-- zsk13:P---',
    'ksk13:P-KC zsk13:P--- zsk13:PR--',
    'ksk13:P-KC zsk13:PR--',
  ])
}, 60_000)

test('a KSK is followed by another one', async () => {
  expect(await roll('ksk')).toEqual([
    'ksk13:P-KC zsk13:PR-- ksk13:P-K-',
    'ksk13:P-K- zsk13:PR-- ksk13:P-KC',
    'zsk13:PR-- ksk13:P-KC',
  ])
}, 60_000)

test('below a parent that reads no CDS a KSK waits for a person', async () => {
  readsCds = false
  const waited = [
    'zsk13:PR-- ksk13:P-KC',
    'zsk13:PR-- ksk13:P-KC ksk13:P-K-',
    'zsk13:PR-- ksk13:P-K- ksk13:P-KC',
  ]
  expect(await roll('ksk')).toEqual(waited.slice(1))
  const [waiting] = keeper.views()[0]!.waiting
  expect(waiting).toMatchObject({ for: 'parent' })
  if (waiting?.for !== 'parent') return
  expect(waitingLine(zone, waiting)).toContain(
    `key ${waiting.tag} waits for the parent: give it the DS record "${zone} IN DS ${waiting.ds}"`,
  )
  // It waits on: both keys are there, and the old one is the parent's.
  nowMs += 24 * 60 * minute
  expect(await settle()).toEqual(waited.slice(2))
  await delegate([waiting.ds])
  expect(await settle()).toEqual([waited[2], 'zsk13:PR-- ksk13:P-KC'])
  expect(keeper.views()[0]!.waiting).toEqual([])
  readsCds = true
}, 60_000)

test('an algorithm is followed by another one', async () => {
  rules = { ...policy, model: 'kskzsk', algorithm: 15 }
  expect(await settle()).toEqual([
    'zsk13:PR-- ksk13:P-KC',
    'zsk13:PR-- ksk13:P-KC zsk15:-R--',
    'zsk13:PR-- ksk13:P-KC ksk15:P-K- zsk15:PR--',
    'zsk13:PR-- ksk13:P-K- ksk15:P-KC zsk15:PR--',
    'zsk13:-R-- ksk15:P-KC zsk15:PR--',
    'ksk15:P-KC zsk15:PR--',
  ])
}, 60_000)

test('a follower keeps old keys as missing: none of them is said to be revoked', async () => {
  const entries = records.filter(({ role }) => role !== 'zsk')
  const gone = entries.filter(({ times }) => times.removedMs !== null)
  expect(gone.length).toBeGreaterThanOrEqual(4)
  await waitUntil('the follower to miss them', () => {
    const states = followed()
    return Promise.resolve(gone.every(({ tag }) => states.get(tag) === 'MISSING'))
  })
  await askUnbound(true)
}, 60_000)
