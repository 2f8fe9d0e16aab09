// Two servers sign one zone, each with its keys, and each shows those of the other (RFC 8901): BIND
// and a node of ours, behind a resolver that asks both in turn.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { readPublicKey } from '#dns/dnssec/key-files.ts'
import { foreignRecord } from '#dns/dnssec/key-record.ts'
import type { KeyRecord } from '#dns/dnssec/key-record.ts'
import { dsText } from '#dns/dnssec/rollover.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { firstRecord, ZoneKeys } from '#server/signing/zone-keys.ts'
import { ask } from '#test/support/dns/client.ts'
import { startNode } from '#test/support/dns/node.ts'
import type { RunningNode } from '#test/support/dns/node.ts'
import { modelOfWritten } from '#test/support/dns/written-zone.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const zone = 'example.org.'
const text = `$ORIGIN ${zone}
@ 1 SOA ns1 hostmaster 1 3600 600 86400 1
@ 1 NS ns1
@ 1 NS ns2
ns1 1 A 127.0.0.1
ns2 1 A 127.0.0.1
www 1 A 192.0.2.80
alias 1 CNAME www
*.star 1 TXT "star"
`

let folder = ''
let node: RunningNode
let records: readonly KeyRecord[] = []
const programs: ChildProcess[] = []
const ports = { named: 0, unbound: 0 }

async function run(program: string, ...args: readonly string[]): Promise<string> {
  const said = await saidBy('sh', ['-c', 'cd "$0" && exec "$@"', folder, program, ...args])
  expect({ program, ...said }).toMatchObject({ code: 0 })
  return said.text
}

async function startProgram(command: readonly string[], port: number): Promise<void> {
  programs.push(spawn(command[0]!, command.slice(1), { cwd: folder, stdio: 'ignore' }))
  await waitUntil(`${command[0]} to listen`, () =>
    ask({ host: '127.0.0.1', port }, `${zone} SOA`, { rd: true }).then(
      () => true,
      () => false,
    ),
  )
}

/** @returns what BIND's keys are here */
async function bindKeys(): Promise<readonly KeyRecord[]> {
  const keygen = ['dnssec-keygen', '-q', '-a', 'ECDSAP256SHA256'] as const
  await run(...keygen, '-f', 'KSK', zone)
  await run(...keygen, zone)
  const files = readdirSync(folder).filter((name) => /^K.*\.key$/.test(name))
  return files.map((name) => {
    const read = readPublicKey(readFileSync(join(folder, name), 'utf8'))
    if (!read.ok) throw new Error(read.error)
    return foreignRecord(zone, read.value.rdata, Date.now())
  })
}

async function startNamed(own: KeyRecord): Promise<void> {
  const octets = Buffer.from(own.publicKey.subarray(4)).toString('base64')
  writeFileSync(join(folder, 'zone'), `${text}@ 1 DNSKEY 257 3 13 ${octets}\n`)
  await run('dnssec-signzone', '-q', '-S', '-o', zone, '-f', 'signed', 'zone')
  ports.named = await freePort()
  writeFileSync(
    join(folder, 'named.conf'),
    `options { directory "."; listen-on port ${ports.named} { 127.0.0.1; }; listen-on-v6 { none; };
pid-file none; session-keyfile none; recursion no; };
controls { };
zone "${zone}" { type primary; file "signed"; };
`,
  )
  await startProgram(['/usr/sbin/named', '-g', '-c', 'named.conf'], ports.named)
}

async function startUnbound(): Promise<void> {
  ports.unbound = await freePort()
  const entries = records.filter(({ flags }) => flags === 257)
  const anchors = entries.map((one) => `  trust-anchor: "${zone} DS ${dsText(one)}"\n`)
  writeFileSync(
    join(folder, 'unbound.conf'),
    `server:
  interface: 127.0.0.1
  port: ${ports.unbound}
  do-daemonize: no
  chroot: ""
  username: ""
  directory: "."
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "validator iterator"
${anchors.join('')}remote-control:
  control-enable: no
stub-zone:
  name: "${zone}"
  stub-addr: 127.0.0.1@${ports.named}
  stub-addr: 127.0.0.1@${node.port}
`,
  )
  await startProgram(['/usr/sbin/unbound', '-d', '-c', 'unbound.conf'], ports.unbound)
}

beforeAll(async () => {
  folder = makeTempDir('multi-signer')
  const own = firstRecord(zone, generateZoneKey(signingAlgorithm(13)!), Date.now())
  const shown = { ...own, times: { ...own.times, dsSubmittedMs: own.times.activeMs } }
  records = [shown, ...(await bindKeys())]
  const keys = new ZoneKeys({
    directory: join(folder, 'none'),
    source: {
      ...{ place: 'the test', makeFirst: null, faults: () => new Map() },
      ...{ keys: () => new Map([[zone, records]]), onChange: () => undefined },
    },
    ...{ secretKey: null, mayGenerate: false, clock: { nowMs: () => Date.now() } },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  })
  const written = modelOfWritten({ name: zone, text })
  const zones = written.zones.map((one) => ({ ...one, algorithm: 13 }))
  node = await startNode({ ...written, zones }, { signing: keys })
  await startNamed(own)
  await startUnbound()
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

/** Rdata of what a server has at the apex, in order. */
async function atApex(port: number, type: string): Promise<readonly string[]> {
  const { answer } = await ask({ host: '127.0.0.1', port }, `${zone} ${type}`)
  return answer.map(({ rdata }) => rdata.toString('hex')).toSorted()
}

test('both have the same DNSKEY records, and ours has CDS of both', async () => {
  const ours = await atApex(node.port, 'DNSKEY')
  expect(ours).toHaveLength(3)
  expect(await atApex(ports.named, 'DNSKEY')).toEqual(ours)
  expect(await atApex(node.port, 'CDS')).toHaveLength(2)
})

test('each answer of either is secure, whichever has given the keys', async () => {
  const questions = ['www A', 'alias A', 'x.star TXT', 'none A', 'www TXT', 'a.none MX']
  const server = { host: '127.0.0.1', port: ports.unbound }
  const endMs = Date.now() + 6_000
  let asked = 0
  while (Date.now() < endMs || asked < 200) {
    const [name = '', type] = questions[asked % questions.length]!.split(' ')
    // New names, and those of which answers are kept for a second.
    const question = `${asked % 2 === 0 ? name : `q${asked}.star`}.${zone} ${type}`
    const { rcode, ad } = await ask(server, question, { rd: true, opt: { dnssecOk: true } })
    expect({ question, isServed: rcode === 0 || rcode === 3, ad }).toEqual({
      ...{ question, isServed: true, ad: true },
    })
    asked++
  }
}, 60_000)

test('each alone is secure to delv, by the DS of either', async () => {
  for (const anchor of records.filter(({ flags }) => flags === 257)) {
    const [tag, algorithm, type, digest] = dsText(anchor).split(' ')
    const trusted = `${zone} static-ds ${tag} ${algorithm} ${type} "${digest}"`
    writeFileSync(join(folder, 'anchor.conf'), `trust-anchors { ${trusted}; };\n`)
    for (const port of [node.port, ports.named]) {
      const at = ['@127.0.0.1', '-p', `${port}`, '-a', 'anchor.conf', `+root=${zone}`]
      const isOwn = (anchor.secret !== null) === (port === node.port)
      const said = await run('delv', ...at, `www.${zone}`, 'A').catch(String)
      // A DNSKEY rrset has signatures of its own server alone: the parent needs the DS of both.
      expect({ port, tag, isSecure: said.includes('fully validated') }).toEqual({
        ...{ port, tag, isSecure: isOwn },
      })
    }
  }
})
