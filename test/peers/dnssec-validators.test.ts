// Compares validators on a node's signed zone with the tables of
// docs/operations/dnssec-validators.md, and runs the tools that look for errors.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signedName } from '#test/support/dns/signed-zone.ts'
import { expectTable, tableOf } from '#test/support/page-table.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'
import { plainResolver, resolverRows } from '#test/support/validators/resolvers.ts'
import { nodeAddress, ValidatorWorld } from '#test/support/validators/validator-world.ts'
import type { Reply } from '#test/support/validators/validator-world.ts'

const page = 'docs/operations/dnssec-validators.md'
const www = ['A 192.0.2.80', 'A 192.0.2.81', 'A 192.0.2.9']

/** What a row of the page is asked by, and the records that every validator must find. */
type Row = readonly [what: string, questions: Readonly<Record<string, readonly string[]>>]

const rows: readonly Row[] = [
  ['records', { 'www A': www, 'text TXT': ['TXT "a"', 'TXT "b" "a"'], '@ SOA': [] }],
  ['DNSKEY, CDS and CDNSKEY of a CSK', { '@ DNSKEY': [], '@ CDS': [], '@ CDNSKEY': [] }],
  ['a name in mixed case', { 'wWw A': www, 'x.StAr A': ['A 192.0.2.33'] }],
  ['an answer that goes over TCP', { 'big TXT': [`TXT ${bigText()}`] }],
  ['no such name: NXNAME', { 'none A': [], 'a.b.none A': [], 'none2 TXT': [] }],
  ['the same name again, another type: RFC 8198', { 'none MX': [], 'none A': [] }],
  ['no such type', { 'www TXT': [], 'mail A': ['A 192.0.2.25'], '@ A': [] }],
  [
    'a bitmap with more types than there are',
    { 'app TXT': [], 'app AAAA': [], 'app A': ['A 192.0.2.10'], 'app MX': [] },
  ],
  ['an empty non-terminal', { 'empty.non A': [], 'deep.empty.non A': ['A 192.0.2.1'] }],
  [
    'a wildcard',
    { 'x.star A': ['A 192.0.2.33'], 'y.x.star A': ['A 192.0.2.33'], 'x.star AAAA': [] },
  ],
  [
    'aliases',
    {
      'alias2 A': ['CNAME alias.example.org.', 'CNAME www.example.org.', ...www],
      'tostar A': ['CNAME x.star.example.org.', 'A 192.0.2.33'],
      'tonone A': ['CNAME none.example.org.'],
      'toapp AAAA': ['CNAME app.example.org.'],
    },
  ],
  ['DNAME', { 'host.old A': ['A 192.0.2.44'] }],
  ['DNAME, signed by ldns-signzone', { 'host.old.real A': ['A 192.0.2.67'] }],
  ['a referral with DS', { 'www.real A': ['A 192.0.2.66'], 'real DS': [] }],
  ['CDS at a cut', { 'real CDS': [], '@ CDS': [] }],
  ['the proof that a zone below has no DS', { 'open DS': [], 'sub DS': [] }],
  ['a zone below without DS', { 'www.open A': ['A 192.0.2.66'] }],
  ['an alias to it', { 'toopen A': ['CNAME www.open.example.org.', 'A 192.0.2.66'] }],
]

function bigText(): string {
  return Array.from({ length: 8 }, (_, i) => `"${String(i).repeat(250)}"`).join(' ')
}

/** Rows that are answered from a zone without keys. */
const isOpen = (what: string): boolean => /without DS$|^an alias to it$/.test(what)

const full = (question: string): string =>
  question.startsWith('@ ')
    ? question.replace('@', signedName)
    : question.replace(' ', `.${signedName} `)

const hasAll = ({ records }: Reply, wanted: readonly string[]): boolean => {
  const found = records.map((text) => text.toLowerCase())
  return wanted.every((text) => found.includes(text.toLowerCase()))
}

/** One word for the replies to the questions of a row. */
function verdictOf(replies: readonly Reply[], [, questions]: Row): string {
  const wrong = replies.filter(({ rcode }) => rcode !== 'NOERROR')
  if (wrong.length > 0) return [...new Set(wrong.map(({ rcode }) => rcode))].join(', ')
  const wanted = Object.values(questions)
  if (!replies.every((reply, i) => hasAll(reply, wanted[i]!))) return 'other records'
  const secure = replies.filter(({ isSecure }) => isSecure).length
  return secure === replies.length ? 'secure' : secure === 0 ? 'insecure' : 'partly secure'
}

function versionOf([program = '', ...args]: readonly string[]): string {
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` }
  const text = execFileSync('sh', ['-c', '"$@" 2>&1', 'sh', program, ...args], { env })
  return /\d+(\.\d+)+|(?<=systemd )\d+/.exec(text.toString())?.[0] ?? 'unknown'
}

/** By algorithm: a column for each resolver. */
const columns: Record<number, Record<string, readonly string[]>> = {}

describe.each([13, 15])('a zone with a key of algorithm %i', (algorithm) => {
  let folder = ''
  let world: ValidatorWorld
  beforeAll(async () => {
    folder = makeTempDir('validators')
    world = await ValidatorWorld.make(folder, algorithm)
  }, 120_000)
  afterAll(() => {
    world?.remove()
    removeTempDir(folder)
  })

  test.each(resolverRows)('$name finds all of it', { timeout: 60_000 }, async (resolver) => {
    const verdicts: string[] = []
    for (const row of rows) {
      const replies = await world.ask(resolver.address, Object.keys(row[1]).map(full))
      verdicts.push(verdictOf(replies, row))
    }
    ;(columns[algorithm] ??= {})[resolver.name] = verdicts
    // dnsmasq 2.90 takes no DNAME, whoever has signed it.
    const isKnown = (what: string): boolean =>
      resolver.name === 'dnsmasq' && what.startsWith('DNAME')
    const wrong = rows.flatMap(([what], i) => {
      const isRight = verdicts[i] === (isOpen(what) ? 'insecure' : 'secure')
      return isRight === isKnown(what) ? [`${what}: ${verdicts[i]}`] : []
    })
    expect(wrong).toEqual([])
  })

  test('members go up and down, and all of them follow', { timeout: 120_000 }, async () => {
    const states = [['192.0.2.11'], [], ['192.0.2.12'], ['192.0.2.10', '192.0.2.11']]
    for (const [i, up] of states.entries()) {
      await world.enable(up)
      for (const { name, address } of resolverRows) {
        // Names that nobody has asked for, so that no cache has an answer of before.
        const fresh = ['A', 'AAAA', 'TXT'].map((type) => full(`s${i}.any ${type}`))
        const [found, ...none] = await world.ask(address, [...fresh, full('app A')])
        expect({ name, up, secure: found!.isSecure, rcode: found!.rcode }).toEqual({
          ...{ name, up, secure: true, rcode: 'NOERROR' },
        })
        const members = up.map((one) => `A ${one}`)
        if (up.length === 0) expect({ name, found: found!.records }).toEqual({ name, found: [] })
        else expect(members).toContain(found!.records[0])
        expect(none.map(({ isSecure }) => isSecure)).toEqual([true, true, true])
      }
      expect(await delvSays(full(`d${i}.any A`))).toEqual(['fully validated'])
    }
    await world.enable(['192.0.2.10'])
  })

  async function delvSays(question: string): Promise<readonly string[]> {
    const [flags, protocol, keyAlgorithm, ...key] = world.root.dnskey.split(' ')
    const anchor = join(folder, 'anchor.conf')
    const text = `${flags} ${protocol} ${keyAlgorithm} "${key.join('')}"`
    writeFileSync(anchor, `trust-anchors { . static-key ${text}; };\n`)
    const args = [`@${plainResolver.address}`, '-a', anchor, ...question.split(' ')]
    const said = await world.run('delv', ...args)
    return said.match(/fully validated|unsigned answer/g) ?? ['no answer']
  }

  test('delv validates answers and denials', { timeout: 60_000 }, async () => {
    const verdicts: string[] = []
    for (const [, questions] of rows) {
      const said: string[] = []
      for (const question of Object.keys(questions).map(full)) {
        said.push(...(await delvSays(question)))
      }
      const isSecure = said.every((word) => word === 'fully validated')
      const isAnswered = !said.includes('no answer')
      verdicts.push(isSecure ? 'secure' : isAnswered ? 'insecure' : 'no answer')
    }
    ;(columns[algorithm] ??= {})['delv'] = verdicts
    const wrong = rows.flatMap(([what], i) =>
      verdicts[i] === (isOpen(what) ? 'insecure' : 'secure') ? [] : `${what}: ${verdicts[i]}`,
    )
    expect(wrong).toEqual([])
  })

  test('dnsviz finds neither errors nor warnings', { timeout: 60_000 }, async () => {
    const names = ['@', 'www', 'none', 'x.star', 'alias2', 'app', 'empty.non']
    const probe = join(folder, 'probe.json')
    const servers = ['-x', `${signedName}+:ns1.${signedName}=${nodeAddress}`]
    await world.run(
      ...['dnsviz', 'probe', '-4', '-A', '-a', signedName, ...servers, '-o', probe],
      ...names.map((name) => full(`${name} `).trim()),
    )
    const all = await world.run('dnsviz', 'grok', '-r', probe)
    expect(all.match(/"status": "VALID"/g)?.length).toBeGreaterThan(names.length)
    const bad = await world.run('dnsviz', 'grok', '-l', 'warning', '-r', probe)
    expect(bad).not.toMatch(/"(errors|warnings)"|INVALID|BOGUS|INDETERMINATE/)
  })

  test('Zonemaster finds no fault with its signatures', { timeout: 120_000 }, async () => {
    const options = ['--hints', join(folder, 'plain', 'hints'), '--json', '--level', 'INFO']
    const said = await world.run('zonemaster-cli', ...options, '--test', 'dnssec', signedName)
    const found = JSON.parse(said) as readonly { level: string; tag: string }[]
    expect(found.map(({ tag }) => tag)).toEqual(
      expect.arrayContaining(['ALGORITHM_OK', 'DS10_HAS_NSEC', 'DS15_HAS_CDS_AND_CDNSKEY']),
    )
    expect(found.filter(({ level }) => level !== 'INFO')).toEqual([])
  })

  test('ldns-walk meets none of its names', { timeout: 60_000 }, async () => {
    const said = await world.run('timeout', '10', 'ldns-walk', `@${nodeAddress}`, signedName)
    const names = said.match(/\S+\.example\.org\./g) ?? []
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !/^[\\0.]+example\.org\.$/.test(name))).toEqual([])
  })
})

describe('earlier results are used again', () => {
  let folder = ''
  let world: ValidatorWorld
  beforeAll(async () => {
    folder = makeTempDir('validators')
    world = await ValidatorWorld.make(folder, 13)
  }, 120_000)
  afterAll(() => {
    world?.remove()
    removeTempDir(folder)
  })

  test('the page says who denies without asking the node', { timeout: 120_000 }, async () => {
    const asked = ['gone A', 'app TXT', 'x.star AAAA', 'empty.non A'].map(full)
    const later = ['gone MX', 'app MX', 'x.star MX', 'empty.non MX'].map(full)
    const there = ['app A', 'x.star A', 'deep.empty.non A', 'under.gone A'].map(full)
    for (const { address } of resolverRows) await world.ask(address, asked)
    world.pauseNode(true)
    const used = await Promise.all(resolverRows.map(({ address }) => world.ask(address, later)))
    world.pauseNode(false)
    const rest = await Promise.all(resolverRows.map(({ address }) => world.ask(address, there)))
    const cells = used.map((replies) =>
      replies.map(({ rcode, isSecure }) => (rcode === 'NOERROR' && isSecure ? 'yes' : 'no')),
    )
    const what = ['a name that is not there', 'a service', 'a name of a wildcard', 'an empty name']
    const table = what.map((name, i) => [name, ...cells.map((column) => column[i]!)])
    expectTable(page, tableOf(['denied by RFC 8198', ...resolverRows.map((r) => r.name)], table))
    // Nobody takes a denial for more than it says.
    for (const replies of rest) {
      expect(replies.map(({ records }) => records)).toEqual([
        ['A 192.0.2.10'],
        ['A 192.0.2.33'],
        ['A 192.0.2.1'],
        [],
      ])
    }
  })
})

test('the page has what validators made of it', () => {
  const names = [...resolverRows.map(({ name }) => name), 'delv']
  const versions = [
    ...resolverRows.map(({ version }) => versionOf(version)),
    versionOf(['dig', '-v']),
  ]
  const table = rows.map(([what], row) => [
    what,
    ...names.map((name) => {
      const both = [13, 15].map((algorithm) => columns[algorithm]![name]![row]!)
      return [...new Set(both)].join(' / ')
    }),
  ])
  const head = ['question', ...names.map((name, i) => `${name} ${versions[i]}`)]
  expectTable(page, tableOf(head, table))
})
