// gslbd import rpz and gslbd export rpz, as a script calls them.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readYaml } from '#compiler/yaml/document.ts'
import { Exit } from '#system/process/command.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const head =
  '$ORIGIN rpz.example.\n$TTL 60\n@ SOA localhost. root.localhost. 1 2 3 4 5\n@ NS localhost.\n'

const ownLine =
  "  zone:3:1: SOA, NS, TTLs of the policy zone: rules have none, and the node's own TTL"

async function imported(zone: string, ...options: readonly string[]) {
  const directory = tempDir('rpz')
  const [file, target] = [join(directory, 'zone'), join(directory, 'config')]
  writeFileSync(file, zone)
  const { exit, out, err } = await runCli('import', 'rpz', file, '-o', target, ...options)
  const short = (text: string): string => text.replaceAll(`${directory}/`, '')
  return { exit, out: short(out), err: short(err), target }
}

function rulesIn(target: string): readonly string[] {
  const { value, findings } = readYaml(readFileSync(join(target, 'rpz/rpz.example.yaml'), 'utf8'))
  expect(findings).toEqual([])
  const { source, rules } = (
    value as { spec: { source: string; rules: readonly Record<string, string>[] } }
  ).spec
  expect(source).toBe('rpz.example')
  return rules.map(({ triggerType, triggerValue, action, actionTarget = '' }) =>
    `${triggerType} ${triggerValue} ${action} ${actionTarget}`.trim(),
  )
}

test.each([
  ['a name', 'Bad.Example CNAME .\n', ['exact bad.example nxdomain']],
  ['a name and all below it', 'a.net CNAME .\n*.a.net CNAME .\n', ['domain a.net nxdomain']],
  ['an exception', 'a.net CNAME rpz-passthru.\n', ['exact a.net passthru']],
  ['an exception in its older form', 'a.net CNAME a.net.\n', ['exact a.net passthru']],
  ['an alias', 'a.net CNAME Wall.Example.\n', ['exact a.net cname wall.example']],
  [
    'what is only below a name',
    '*.a.net CNAME .\n',
    ['domain a.net nxdomain', 'exact a.net passthru'],
  ],
  [
    'what is only below a name that another rule encloses',
    'net CNAME w.test.\n*.net CNAME w.test.\n*.a.net CNAME .\n',
    ['domain net cname w.test', 'domain a.net nxdomain', 'exact a.net cname w.test'],
  ],
  [
    'a name that differs from what is below it',
    'a.net CNAME w.test.\n*.a.net CNAME .\n',
    ['exact a.net cname w.test', 'domain a.net nxdomain'],
  ],
  ['a name that YAML would read as a number', '1.5 CNAME .\n', ['exact 1.5 nxdomain']],
])('%s becomes rules that compile', async (_what, records, rules) => {
  const { exit, out, err, target } = await imported(head + records)
  expect([exit, err]).toEqual([Exit.Ok, ''])
  const count = rules.length === 1 ? '1 response rule' : `${rules.length} response rules`
  expect(out).toBe(
    `wrote config/gslb.yaml: settings\nwrote config/rpz/rpz.example.yaml: ${count}\n` +
      `\nleft out:\n${ownLine}\n`,
  )
  expect(rulesIn(target)).toEqual(rules)
  expect((await runCli('check', target)).exit).toBe(Exit.Ok)
})

test('unmapped records are listed by reason, with the first place and their number', async () => {
  const records = [
    'a.net CNAME .',
    'b.net CNAME *.',
    'c.net CNAME rpz-drop.',
    'd.net CNAME rpz-tcp-only.',
    'e.net CNAME *.wall.test.',
    'f.net A 192.0.2.1',
    'g.net TXT "x"',
    '32.1.2.0.192.rpz-ip CNAME .',
    'ns.bad.net.rpz-nsdname CNAME .',
    'a.net CNAME w.test.',
    'h\\032i.net CNAME .',
    '@ TXT "a feed"',
  ]
  const { exit, out, target } = await imported(`${head}${records.join('\n')}\n`)
  expect(exit).toBe(Exit.Ok)
  expect(rulesIn(target)).toEqual(['exact a.net nxdomain'])
  const at = (record: number): string => `  zone:${5 + record}:1: `
  const notes = out.split('\n').filter((line) => line.startsWith('  '))
  expect(notes).toEqual([
    ownLine,
    `${at(9)}another CNAME of a name that has one`,
    `${at(11)}records of the zone itself`,
    `${at(1)}an answer without records (CNAME *.): write nxdomain, or a target without records`,
    `${at(2)}no answer at all (rpz-drop)`,
    `${at(3)}an answer over TCP alone (rpz-tcp-only)`,
    `${at(4)}a target with the name of the question before it (CNAME *.…)`,
    `${at(5)}answers with records of their own; 2 records, this is the first`,
    `${at(7)}triggers by addresses or name servers: only names are looked at; 2 records, this is the first`,
    `${at(10)}names that are none of hosts`,
  ])
})

test('a file without a rule that maps, without a zone, or with faults writes nothing', async () => {
  const none = await imported(`${head}f.net A 192.0.2.1\n`)
  expect(none.out).toContain('zone:5:1: answers with records of their own\n')
  expect([none.exit, none.err]).toEqual([
    Exit.ErrorsFound,
    'gslbd import: there is no rule in it that maps; nothing was written\n',
  ])
  const nameless = await imported('a.net.rpz.example. 60 CNAME .\n')
  expect([nameless.exit, nameless.err]).toEqual([
    Exit.ErrorsFound,
    expect.stringContaining('give the name of the policy zone with --origin') as string,
  ])
  const bare = await imported('a.net 60 CNAME .\n', '--origin', 'rpz.example')
  expect([bare.exit, bare.out]).toEqual([
    Exit.Ok,
    expect.stringContaining('  zone:1:1: TTLs of the policy zone: rules have none, ') as string,
  ])
  expect((await imported(`${head}a.net CNAME\n`)).exit).toBe(Exit.ErrorsFound)
})

test('an export is the policy zone that was imported, and of one source on demand', async () => {
  const records = [
    '*.a.net\t60\tIN\tCNAME\t.',
    'a.net\t60\tIN\tCNAME\trpz-passthru.',
    'b.net\t60\tIN\tCNAME\twall.test.',
    '*.c.net\t60\tIN\tCNAME\twall.test.',
    'c.net\t60\tIN\tCNAME\twall.test.',
  ]
  const { target } = await imported(`${head}${records.join('\n')}\n`)
  const printed = await runCli('export', 'rpz', '--config', target, '--origin', 'rpz.example')
  expect([printed.exit, printed.err]).toEqual([Exit.Ok, ''])
  const names = printed.out.split('\n').filter((line) => line.includes('CNAME'))
  expect(names.toSorted()).toEqual(records.toSorted())
  const again = await imported(printed.out)
  expect(rulesIn(again.target).toSorted()).toEqual(rulesIn(target).toSorted())
  const one = await runCli('export', 'rpz', '--config', target, '--source', 'rpz.exampel')
  expect([one.exit, one.err]).toEqual([
    Exit.ErrorsFound,
    expect.stringContaining('did you mean "rpz.example"?') as string,
  ])
})

test('rules whose answers are signed are named in the zone, which cannot say so', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((one) => `${one}.example CNAME .\n`).join('')
  const { target } = await imported(head + names)
  const path = join(target, 'rpz/rpz.example.yaml')
  const plain = await runCli('export', 'rpz', '--config', target)
  expect(plain.out).not.toContain('signed')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replaceAll(/action: nxdomain/g, 'action: nxdomain, signed: true'))
  const { exit, out } = await runCli('export', 'rpz', '--config', target)
  expect(exit).toBe(Exit.Ok)
  expect(out).toMatch(
    /^; a\.example\., b\.example\., .* and 1 more: "signed: true" has no place in a policy zone/m,
  )
})

test('an export repeats a rule where deeper names, empty ones too, end its wildcard', async () => {
  const { target } = await imported(
    head +
      '*.a.net CNAME .\na.net CNAME .\n' +
      'x.ok.a.net CNAME rpz-passthru.\n' +
      'deep.a.net CNAME wall.test.\n*.deep.a.net CNAME wall.test.\n' +
      'alone.b.net CNAME .\n' +
      'wall.test CNAME deep.test.\n',
  )
  const { out } = await runCli('export', 'rpz', '--config', target, '--origin', 'rpz.example')
  const records = out.split('\n').filter((line) => line.includes('CNAME'))
  expect(records.map((line) => line.replace(/\t60\tIN\tCNAME\t/, ' ')).toSorted()).toEqual(
    [
      'a.net .',
      '*.a.net .',
      'ok.a.net .',
      '*.ok.a.net .',
      'x.ok.a.net rpz-passthru.',
      '*.x.ok.a.net .',
      'deep.a.net wall.test.',
      '*.deep.a.net wall.test.',
      'alone.b.net .',
      'wall.test deep.test.',
    ].toSorted(),
  )
})

test('an import notes each name at which a wildcard of the zone ends', async () => {
  const { out } = await imported(
    `${head}*.a.net CNAME .\nx.ok.a.net CNAME rpz-passthru.\nz.b.net CNAME .\n`,
  )
  expect(out).toContain(
    'zone:6:1: a deeper name ends a wildcard for readers that take it as DNS does; the rule for ' +
      'the domain holds below that name, too; 2 records, this is the first\n',
  )
  expect((await imported(`${head}*.a.net CNAME .\na.net CNAME .\n`)).out).not.toContain('ends')
})

test.each([
  [['rpz', 'name'], 'rpz takes no name'],
  [['zone', 'a', '--source', 'b'], '--origin and --source are for rpz'],
  [['rpz', '--origin', 'a..b'], '--origin is no name'],
  [['rules'], 'say what is exported: zone or rpz'],
])('export %j is refused as a wrong call', async (args, told) => {
  const config = args.includes('--origin') ? ['--config', 'examples/response-policy'] : []
  const { exit, err } = await runCli('export', ...args, ...config)
  expect([exit, err]).toEqual([Exit.Usage, expect.stringContaining(told) as string])
})
