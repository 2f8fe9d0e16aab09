// Signed answers of a node, as validators see them: unbound with a trust anchor, and delv.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DigestType, dsRdata } from '#dns/dnssec/zone-key.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { ask } from '#test/support/dns/client.ts'
import { signatureWrites } from '#test/support/dns/signature-writes.ts'
import { signedModel, signedName, startSignedNode } from '#test/support/dns/signed-zone.ts'
import type { SignedNode } from '#test/support/dns/signed-zone.ts'
import { typeName } from '#test/support/dns/codes.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { waitUntil } from '#test/support/wait-until.ts'

interface Resolver {
  readonly host: string
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Knows nothing but the zone, whose DS record it trusts. */
async function startUnbound(folder: string, node: SignedNode): Promise<Resolver> {
  const port = await freePort()
  const ds = rdataTypeOf(43).print(dsRdata(wireName(signedName), node.key, DigestType.Sha256))
  const file = join(folder, 'unbound.conf')
  writeFileSync(
    file,
    `server:
  interface: 127.0.0.1
  port: ${port}
  do-daemonize: no
  chroot: ""
  username: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "validator iterator"
  trust-anchor: "${signedName} DS ${ds}"
  val-log-level: 2
  cache-max-ttl: 0
  cache-max-negative-ttl: 0
  aggressive-nsec: yes
  qname-minimisation: no
remote-control:
  control-enable: no
stub-zone:
  name: "${signedName}"
  stub-addr: 127.0.0.1@${node.port}
  stub-first: no
`,
  )
  const child = spawn('/usr/sbin/unbound', ['-d', '-c', file], { stdio: 'ignore' })
  const ended = once(child, 'close')
  const server = { host: '127.0.0.1', port }
  await waitUntil('unbound to listen', () =>
    ask(server, `${signedName} SOA`, { rd: true }).then(
      () => true,
      () => false,
    ),
  )
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  return { ...server, stop }
}

const www = ['A 192.0.2.80', 'A 192.0.2.81', 'A 192.0.2.9']
const made = ['CNAME host.new.example.org.', 'DNAME new.example.org.', 'A 192.0.2.44']

/**
 * Records without their signatures; where a member is chosen, one of several. What does not exist
 * is no data to these validators: they do not ask with the flag of RFC 9824 section 5.1.
 */
const rows: readonly (readonly [question: string, ...records: string[]])[] = [
  ['www A', ...www],
  ['WwW A', ...www],
  ['text TXT', 'TXT "a"', 'TXT "b" "a"'],
  ['rp RP', 'RP \\# 24 04536f6d6504426f6479074578616d706c65036f72670000'],
  ['mail AAAA', 'AAAA 2001:db8::25'],
  ['app A', 'A 192.0.2.10'],
  ['many A', 'A 192.0.2.10|11'],
  ['x.any A', 'A 192.0.2.10|11'],
  ['app AAAA'],
  ['app TXT'],
  ['none A'],
  ['a.b.none A'],
  ['empty.non A'],
  ['x.star A', 'A 192.0.2.33'],
  ['y.x.star A', 'A 192.0.2.33'],
  ['*.star A', 'A 192.0.2.33'],
  ['x.star AAAA'],
  ['alias A', 'CNAME www.example.org.', ...www],
  ['alias2 A', 'CNAME alias.example.org.', 'CNAME www.example.org.', ...www],
  ['tonone A', 'CNAME none.example.org.'],
  ['tostar A', 'CNAME x.star.example.org.', 'A 192.0.2.33'],
  ['toapp A', 'CNAME app.example.org.', 'A 192.0.2.10'],
  ['toapp AAAA', 'CNAME app.example.org.'],
  ['host.old A', ...made],
  ['denied A'],
  ['denied TXT'],
  ['to A', 'CNAME www.example.org.', ...www],
  ['x.y.to AAAA', 'CNAME www.example.org.'],
  ['sub DS'],
  ['safe DS', `DS \\# 36 30390d02${'ab'.repeat(32)}`],
  ['www DS'],
  ['www NSEC', 'NSEC \\# 27 010003777777076578616d706c65036f7267000006400000000003'],
]

const full = (question: string): string => question.replace(' ', `.${signedName} `)

/** Without what only proves. */
async function asked(resolver: Resolver, question: string): Promise<readonly string[]> {
  const reply = await ask(resolver, question, { rd: true, opt: { dnssecOk: true } })
  expect({ question, rcode: reply.rcode, ad: reply.ad }).toEqual({ question, rcode: 0, ad: true })
  return reply.answer
    .map(({ type, rdataText }) => `${typeName(type)} ${rdataText}`)
    .filter((line) => !line.startsWith('RRSIG'))
}

function isExpected(found: readonly string[], records: readonly string[]): boolean {
  const left = [...found]
  for (const record of records) {
    const [one, other] = record.split('|')
    const known = other === undefined ? [record] : [one, one!.replace(/\d+$/, other)]
    const at = left.findIndex((line) =>
      known.some((text) => text?.toLowerCase() === line.toLowerCase()),
    )
    if (at < 0) return false
    left.splice(at, 1)
  }
  return left.length === 0
}

describe.each([
  ['ecdsap256sha256', 13],
  ['ed25519', 15],
])('%s', (_name, algorithm) => {
  let folder = ''
  let node: SignedNode
  let unbound: Resolver
  beforeAll(async () => {
    folder = makeTempDir('dnssec')
    node = await startSignedNode(folder, algorithm)
    unbound = await startUnbound(folder, node)
  })

  /** Signatures that were made. */
  const made = (): number => {
    const handed = node.keys.handedFor(node.node.bundle()!)
    return signatureWrites(handed!.signatures)
  }

  test('unbound and delv say that what was signed ahead is secure', async () => {
    let before = -1
    await waitUntil(
      'all to be signed ahead',
      () => {
        const now = made()
        const isOver = now === before && now > 40
        before = now
        return isOver
      },
      { intervalMs: 250 },
    )
    const isAhead = ([question, ...records]: (typeof rows)[number]): boolean =>
      records.length > 0 && !/^(x|y|to|\*)\b|star|tonone|denied/.test(question)
    const ahead = rows.filter(isAhead).map(([question]) => full(question))
    for (const question of [...ahead, `${signedName} DNSKEY`]) await asked(unbound, question)
    expect([ahead.length > 10, made()]).toEqual([true, before])
  })

  afterAll(async () => {
    await unbound?.stop()
    await node?.stop()
    removeTempDir(folder)
  })

  test.each(rows)('unbound says that %s is secure', async (question, ...records) => {
    for (let i = 0; i < 2; i++) {
      const found = await asked(unbound, full(question))
      expect(isExpected(found, records), `${found.join(', ')}`).toBe(true)
    }
  })

  test.each([
    `${signedName} DNSKEY`,
    `${signedName} CDS`,
    `${signedName} CDNSKEY`,
    `${signedName} SOA`,
  ])('unbound says that %s is secure', async (question) => {
    expect(await asked(unbound, question)).toHaveLength(1)
  })

  test('a referral has DS records, or the proof that there are none', async () => {
    // Nobody answers for the zone below: what counts is that unbound follows.
    const reply = await ask(node, `www.sub.${signedName} A`, { opt: { dnssecOk: true } })
    const types = reply.authority.map(({ type }) => typeName(type))
    expect(types).toEqual(['NS', 'NSEC', 'RRSIG'])
    const safe = await ask(node, `www.safe.${signedName} A`, { opt: { dnssecOk: true } })
    expect(safe.authority.map(({ type }) => typeName(type))).toEqual(['NS', 'DS', 'RRSIG'])
  })

  test('delv validates answers and denials', async () => {
    const anchor = join(folder, 'anchor.conf')
    const octets = Buffer.from(node.key.rdata.subarray(4)).toString('base64')
    const key = `${signedName} static-key 257 3 ${algorithm} "${octets}"`
    writeFileSync(anchor, `trust-anchors { ${key}; };\n`)
    const at = ['@127.0.0.1', '-p', `${node.port}`, '-a', anchor, `+root=${signedName}`]
    for (const [question, ...records] of rows) {
      if (question === 'www DS' || records.length > 4) continue
      const { text } = await saidBy('delv', [...at, ...full(question).split(' ')])
      expect(`${question}: ${text}`).toMatch(/; (negative response, )?fully validated/)
    }
  })

  test('members go up and down, and every answer stays secure', async () => {
    const all = ['192.0.2.10', '192.0.2.11', '192.0.2.12']
    for (const up of [['192.0.2.11'], [], ['192.0.2.12'], all, ['192.0.2.10', '192.0.2.11']]) {
      await node.serve(signedModel(algorithm, up))
      // A denial without a TTL lives to the end of its second there, for each name its own.
      const first = up.length === 0 ? undefined : `A ${up[0]}`
      const isChosen = (line: string | undefined): boolean =>
        line === undefined ? up.length === 0 : up.includes(line.slice(2))
      await waitUntil('the denials to be over', async () => {
        const [app] = await asked(unbound, full('app A'))
        const [many] = await asked(unbound, full('many A'))
        return app === first && isChosen(many)
      })
      expect(await asked(unbound, full('app AAAA'))).toEqual([])
      expect(await asked(unbound, full('app TXT'))).toEqual([])
    }
  })
})
