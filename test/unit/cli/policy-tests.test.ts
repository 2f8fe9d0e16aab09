// Policy tests: what they can say, what they say when they fail, and `gslbd test`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { policyTestLimits } from '#judge/policy-tests/limits.ts'
import { Suggestions } from '#judge/policy-tests/near-member.ts'
import { createPolicyTests } from '#judge/policy-tests/run.ts'
import type { TestReport } from '#judge/policy-tests/report.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { sourceFile } from '../compiler/fixture.ts'

const head = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`
const member = (octet: number, more: string): string =>
  `    - { name: m${octet}, ipAddress: 192.0.2.${octet}, port: 80, ${more} }\n`
const service = (name: string, more: string): string =>
  `${head('Service', name)}spec: { domain: ${name}.example.com., ttl: 30, pool: web, ${more} }\n`

const files: Readonly<Record<string, string>> = {
  'gslb.yaml':
    `${head('Settings', 'settings')}spec:\n  zones:\n    - name: example.com.\n` +
    '      nameservers: [{ name: ns1.example.net. }]\n' +
    '  asn: { rules: [{ asn: 64500, endpoint: 192.0.2.1 }, { org: net, endpoint: 192.0.2.2 }] }\n',
  'tenants/default/pools/web.yaml':
    `${head('Pool', 'web')}spec:\n  members:\n` +
    member(1, 'region: DE, weight: 30, priority: 1') +
    member(2, 'region: US, weight: 10, priority: 2') +
    '  geoRules: [{ cidr: 10.1.0.0/16, endpoint: 192.0.2.2 }]\n',
  'tenants/default/services/www.yaml': service('www', 'algorithm: failover'),
  'tenants/default/services/turns.yaml': service('turns', 'algorithm: round-robin'),
  'tenants/default/services/dice.yaml': service('dice', 'algorithm: weighted-round-robin'),
  'tenants/default/services/geo.yaml': service('geo', 'filterChain: [geo-ip, failover]'),
  'tenants/default/services/stuck.yaml': service('stuck', 'filterChain: [sticky]'),
  'tenants/default/services/asn.yaml': service('asn', 'filterChain: [asn]'),
  'tenants/default/maintenance-windows/night.yaml':
    `${head('MaintenanceWindow', 'night')}spec: { resourceType: member, resource: web/m1, ` +
    'startAt: 2027-01-31T01:00:00Z, endAt: 2027-01-31T05:00:00Z }\n',
}
const both = '[192.0.2.1, 192.0.2.2]'

function complaints(spec: string, path?: string, more?: Record<string, string>) {
  return compiledWith(spec, path, more).map((one) => `${one.code}: ${messageOf(one)}`)
}

function compiledWith(spec: string, path = 'tests/a.yaml', more: Record<string, string> = {}) {
  const all = { ...files, ...more, [path]: `${head('Test', 'a')}spec:\n${spec}` }
  const sources = Object.entries(all).map(([name, text]) => sourceFile(name, text))
  const compiler = createCompiler({ policyTests: createPolicyTests() })
  return compiler.compile(sources, { commit: '' }).diagnostics
}

const asked = (given: string, expected: string) =>
  complaints(`  cases: [{ given: { ${given} }, expect: { ${expected} } }]\n`)

describe('an expectation that holds says nothing, and one that does not says what it got', () => {
  const rows: readonly [given: string, holds: string, fails: string, got: string][] = [
    ['name: www.example.com', 'members: [192.0.2.1]', 'members: [192.0.2.2]', '192.0.2.1'],
    ['name: turns.example.com', `members: ${both}`, 'members: [192.0.2.1]', '192.0.2.1, 192.0.2.2'],
    ['name: turns.example.com', `oneOf: ${both}`, 'oneOf: [192.0.2.2]', '192.0.2.1, 192.0.2.2'],
    [
      'name: www.example.com, down: [web/192.0.2.1]',
      'members: [192.0.2.2]',
      'members: [192.0.2.1]',
      '192.0.2.2',
    ],
    [
      'name: www.example.com, down: ["default/web/*"]',
      'records: []',
      'oneOf: [192.0.2.1]',
      'an answer without members',
    ],
    ['name: geo.example.com, country: US', 'members: [192.0.2.2]', 'ttl: 31', 'TTL 30'],
    ['name: geo.example.com, country: DE', 'members: [192.0.2.1]', 'ttl: 31', 'TTL 30'],
    [
      'name: geo.example.com, country: US, down: [web/192.0.2.2]',
      'members: [192.0.2.1]',
      'members: [192.0.2.2]',
      '192.0.2.1',
    ],
    ['name: asn.example.com, asn: 64500', 'members: [192.0.2.1]', 'ttl: 0', 'TTL 30'],
    ['name: asn.example.com, operator: Some Net', 'members: [192.0.2.2]', 'ttl: 0', 'TTL 30'],
    [
      'name: www.example.com, subnet: 10.1.2.0/24',
      'members: [192.0.2.2], scopeAtMost: 16',
      'scopeAtMost: 8',
      'scope /16',
    ],
    [
      "name: www.example.com, subnet: '2001:db8::/56'",
      'scopeAtMost: 32',
      'scopeAtMost: 32, ttl: 31',
      'TTL 30',
    ],
    [
      'name: www.example.com, subnet: 10.1.2.0/24',
      'scopeAtMost: 31',
      'scopeAtMost: 32, ttl: 31',
      'TTL 30',
    ],
    ['name: www.example.com', 'ttl: 30', 'scopeAtMost: 128', 'none: the case gives no subnet'],
    ['name: www.example.com, client: 10.1.2.3', 'members: [192.0.2.2]', 'ttl: 0', 'TTL 30'],
    ['name: www.example.com', 'ttl: 30', 'scopeAtMost: 24', 'none: the case gives no subnet'],
    [
      "name: www.example.com, at: '2027-01-31T02:00:00Z'",
      'members: [192.0.2.2]',
      'members: [192.0.2.1]',
      '192.0.2.2',
    ],
    [
      "name: www.example.com, at: '2027-01-31T06:00:00Z'",
      'members: [192.0.2.1]',
      'members: [192.0.2.2]',
      '192.0.2.1',
    ],
    ['name: no.example.com', 'rcode: NXDOMAIN', 'rcode: NOERROR', 'NXDOMAIN'],
    ['name: example.org', 'rcode: REFUSED', 'rcode: NOERROR', 'REFUSED'],
    ['name: no.example.com', 'records: []', 'ttl: 30', 'an answer without records'],
    [
      'name: www.example.com',
      'records: ["www.example.com.  30 IN A 192.0.2.1"]',
      'records: []',
      'www.example.com. 30 IN A 192.0.2.1',
    ],
    ['name: www.example.com, type: AAAA', 'records: []', 'members: [192.0.2.1]', 'without members'],
  ]
  test.each(rows)('%s: %s', (given, holds, fails, got) => {
    expect(asked(given, holds)).toEqual([])
    const [said, ...others] = asked(given, fails)
    expect(said).toMatch(/^test-failed: the test "a: case 1" fails: expected /)
    expect(said).toContain(got)
    expect(others).toEqual([])
  })

  test('shares, within what is tolerated, of as many samples as the case wants', () => {
    const share = (percent: number, more: string, given = '') =>
      asked(
        `name: dice.example.com${given}`,
        `share: [{ member: 192.0.2.1, percent: ${percent}${more} }]`,
      )
    expect(share(75, '')).toEqual([])
    expect(share(75, ', tolerance: 1', ', samples: 20000')).toEqual([])
    expect(share(50, '', ', samples: 400')).toEqual([
      expect.stringMatching(/expected 50 % ± 5 of the answers for 192.0.2.1, got 7\d.\d % of 400/),
    ])
    // The same seed gives the same answers, whatever else is asked before.
    expect(share(50, '', ', seed: 7')).toEqual(share(50, '', ', seed: 7'))
  })

  test.each([
    [0, 5, ['0 % ± 5 of the answers for 192.0.2.1, got an answer without members']],
    [50, 5, ['50 % ± 5 of the answers for 192.0.2.1, got an answer without members']],
    [50, 50, []],
  ])('an answer without members has no shares: not %d %% ± %d', (percent, tolerance, got) => {
    const nobody = 'tenants/default/services/nobody.yaml'
    const text = `${head('Service', 'nobody')}spec: { domain: nobody.example.com., pool: null }\n`
    const share = `share: [{ member: 192.0.2.1, percent: ${percent}, tolerance: ${tolerance} }]`
    const spec = `  cases: [{ given: { name: nobody.example.com }, expect: { ${share} } }]\n`
    const failures = complaints(spec, undefined, { [nobody]: text }).filter((one) =>
      one.startsWith('test-failed'),
    )
    expect(failures).toEqual(got.map((words) => expect.stringContaining(words) as string))
  })
})

test('a case takes over what its file says, and leaves nothing behind for the next one', () => {
  const spec =
    '  given: { name: www.example.com, down: [web/192.0.2.1] }\n  expect: { ttl: 30 }\n  cases:\n' +
    '    - { name: as the file says, expect: { members: [192.0.2.2] } }\n' +
    '    - { name: nothing down, given: { down: [] }, expect: { members: [192.0.2.1] } }\n' +
    '    - { name: another name, given: { name: turns.example.com, down: [] }, ' +
    `expect: { members: ${both} } }\n` +
    '    - { name: fails, expect: { ttl: 1 } }\n'
  expect(complaints(spec)).toEqual([
    'test-failed: the test "a: fails" fails: expected TTL 1, got TTL 30',
  ])
})

test('a share of a sticky service that fails says that one client was asked', () => {
  const share = 'share: [{ member: 192.0.2.1, percent: 50 }]'
  const said = asked('name: stuck.example.com', share)
  expect(said).toEqual([
    expect.stringContaining('test-share-sticky'),
    expect.stringMatching(/got 1?00?\.0 % of 1000, all for one client network, by which sticky/),
  ])
  // Where one member is left, nothing is shared out.
  const alone = 'name: stuck.example.com, down: [web/192.0.2.2]'
  expect(asked(alone, 'share: [{ member: 192.0.2.1, percent: 100 }]')).toEqual([])
})

test('an unknown member is reported with a suggestion', () => {
  const spec =
    '  cases:\n    - given: { name: dice.example.com }\n' +
    '      expect: { share: [{ member: 192.0.2.21, percent: 0 }] }\n' +
    '    - given: { name: dice.example.com, down: [web/192.0.2.11] }\n      expect: { ttl: 30 }\n'
  expect(compiledWith(spec).map(({ suggestion }) => suggestion)).toEqual([
    '192.0.2.1',
    'web/192.0.2.1',
  ])
})

test.each([
  [100, 0, false],
  [0, 0, false],
  [95, 5, false],
  [5, 5, false],
  [94, 5, true],
  [6, 5, true],
])('a sticky step cannot give a share of %d %% ± %d: %s', (percent, tolerance, isNoted) => {
  const codes = ['192.0.2.1', '192.0.2.2'].map((address) =>
    compiledWith(
      '  cases: [{ given: { name: stuck.example.com, client: 198.51.100.1 }, expect: { share: ' +
        `[{ member: ${address}, percent: ${percent}, tolerance: ${tolerance} }] } }]\n`,
    ).map(({ code }) => code),
  )
  const notes = codes.map((one) => one.includes('test-share-sticky'))
  expect(notes).toEqual([isNoted, isNoted])
  // One of the two has all, and the other nothing.
  const failures = codes.filter((one) => one.includes('test-failed'))
  expect(failures.length).toBe(isNoted ? 2 : 1)
})

describe('suggestions for a missing member', () => {
  const pools: Readonly<Record<string, string>> = {
    'tenants/shop/tenant.yaml': `${head('Tenant', 'shop')}spec: {}\n`,
    'tenants/shop/pools/shop.yaml': `${head('Pool', 'shop')}spec:\n  members:\n${member(9, '')}`,
    'tenants/shop/services/shop.yaml': service('shop', '').replace('pool: web', 'pool: shop'),
  }
  const told = (path: string, cases: string) =>
    compiledWith(`  expect: { rcode: NOERROR }\n  cases: [${cases}]\n`, path, pools)
      .filter(({ code }) => code.endsWith('-unknown'))
      .map(({ code, suggestion }) => [code, suggestion])
  const own = 'tenants/default/tests/a.yaml'
  const down = (name: string, asked = 'www') =>
    `{ given: { name: ${asked}.example.com, down: ["${name}"] } }`
  const share = (address: string) =>
    `{ given: { name: www.example.com }, expect: { share: [{ member: ${address}, percent: 0, tolerance: 5 }] } }`
  const rows: readonly [path: string, one: string, suggestion: string][] = [
    [own, down('web/192.0.2.11'), 'web/192.0.2.1'],
    [own, down('wbe/192.0.2.1'), 'web/192.0.2.1'],
    [own, down('wbe/*'), 'web/*'],
    [own, down('default/wbe/192.0.2.2'), 'default/web/192.0.2.2'],
    ['tests/a.yaml', down('shop/192.0.2.8'), 'shop/192.0.2.9'],
    // Nothing is told of another tenant, be it named or asked.
    [own, down('shop/192.0.2.8'), ''],
    [own, down('shpo/192.0.2.9'), ''],
    [own, down('shpo/192.0.2.9', 'shop'), ''],
    // Neither named nor asked: too many to look at.
    ['tests/a.yaml', down('shpo/192.0.2.9'), ''],
  ]
  test.each(rows)('%s: %s: %s', (path, one, suggestion) => {
    expect(told(path, one)).toEqual([['test-member-unknown', suggestion]])
  })

  test('whether an address is of a member of another tenant is not told to a tenant', () => {
    expect(told('tests/a.yaml', share('192.0.2.9'))).toEqual([])
    const unknown = [['test-share-unknown', '192.0.2.1']]
    expect(told(own, share('192.0.2.9'))).toEqual(unknown)
    expect(told(own, share('192.0.2.8'))).toEqual(unknown)
    expect(told(own, share('192.0.2.2'))).toEqual([])
  })

  test('the first few of a run have a suggestion, each of the first few names', () => {
    const { suggestionsMax } = policyTestLimits
    const cases = Array.from({ length: suggestionsMax + 5 }, () => down('web/192.0.2.11'))
    const suggestions = told(own, cases.join(', ')).map(([, suggestion]) => suggestion)
    expect(suggestions.length).toBe(suggestionsMax + 5)
    expect(suggestions.filter((one) => one !== '').length).toBe(suggestionsMax)

    const looked: string[] = []
    function* names() {
      for (let i = 0; ; i++) {
        looked.push(`n${i}`)
        yield `n${i}`
      }
    }
    expect(new Suggestions().nearest('n11', names)).toBe('n11')
    expect(looked.length).toBe(policyTestLimits.suggestedAmongMax + 1)
  })
})

describe('faults of a test itself', () => {
  const rows: readonly [given: string, expected: string, said: string][] = [
    ['name: www.example.com', '', 'test-cannot-fail: .* it expects nothing'],
    [
      'name: dice.example.com',
      'share: [{ member: 192.0.2.1, percent: 50, tolerance: 50 }]',
      'test-cannot-fail: .* 0 to 100 %',
    ],
    [
      'name: www.example.com, subnet: 10.1.2.0/24',
      'scopeAtMost: 32',
      'test-cannot-fail: .* above /32',
    ],
    [
      "name: www.example.com, subnet: '2001:db8::/56'",
      'scopeAtMost: 128',
      'test-cannot-fail: .* above /128',
    ],
    ['name: www.example.com, country: XX', 'ttl: 30', '"XX" is not a country'],
    ['name: www.example.com, client: 10.1.0.0/16', 'ttl: 30', 'is not an IP address'],
    ['name: www.example.com, subnet: 10.1.0', 'ttl: 30', 'neither an IP address nor a network'],
    ['name: www.example.com, type: AA', 'ttl: 30', '"AA" is not a known type'],
    ["name: www.example.com, at: '2027-01-31'", 'ttl: 30', 'instant|zone'],
    ['name: www.example.com, down: [web/m1]', 'ttl: 30', 'test-member-unknown: .*"web/m1"'],
    [
      'name: dice.example.com',
      'share: [{ member: 192.0.2.1, percent: 75 }, { member: 192.0.2.21, percent: 0 }]',
      'test-share-unknown: there is no member "192.0.2.21"',
    ],
    [
      'name: geo.example.com, country: US, down: [web/192.0.2.2]',
      'share: [{ member: host.example., percent: 0 }]',
      'test-share-unknown: there is no member "host.example."',
    ],
    ['name: www.example.com', 'members: ["?"]', 'not the address of a member'],
    ['type: A', 'ttl: 30', 'test-name-missing'],
    ['name: gone.example.com', 'oneOf: [192.0.2.1]', 'test-service-missing: .*gone.example.com'],
  ]
  test.each(rows)('%s: %s', (given, expected, said) => {
    expect(asked(given, expected)).toEqual([expect.stringMatching(said)])
  })

  test('a tenant tests its own names, from its own folder', () => {
    const tenant = { 'tenants/shop/tenant.yaml': `${head('Tenant', 'shop')}spec: {}\n` }
    const spec = '  given: { name: www.example.com }\n  cases: [{ expect: { ttl: 30 } }]\n'
    expect(complaints(spec, 'tenants/shop/tests/a.yaml', tenant)).toEqual([
      expect.stringContaining('test-name-foreign'),
    ])
    expect(complaints(spec, 'tenants/default/tests/a.yaml')).toEqual([])
  })

  const owners: readonly (readonly [path: string, down: string, said: string | null])[] = [
    ['tenants/default/tests/a.yaml', '[web/192.0.2.1]', null],
    ['tenants/default/tests/a.yaml', '["default/web/*"]', null],
    ['tenants/default/tests/a.yaml', '[web/192.0.2.1, shop/192.0.2.9]', '"shop/192.0.2.9" of'],
    ['tenants/default/tests/a.yaml', '["shop/shop/*"]', '"shop/shop/*" of tenant shop'],
    ['tests/a.yaml', '[web/192.0.2.1, shop/192.0.2.9]', null],
  ]
  test.each(owners)('%s takes down %s: a tenant its own members', (path, down, said) => {
    const shop = {
      'tenants/shop/tenant.yaml': `${head('Tenant', 'shop')}spec: {}\n`,
      'tenants/shop/pools/shop.yaml': `${head('Pool', 'shop')}spec:\n  members:\n${member(9, '')}`,
      'tenants/shop/services/shop.yaml': service('shop', '').replace('pool: web', 'pool: shop'),
    }
    const spec =
      `  given: { name: www.example.com, down: ${down} }\n` +
      '  cases: [{ expect: { rcode: NOERROR } }]\n'
    const expected = said === null ? [] : [expect.stringContaining(said)]
    const found = complaints(spec, path, shop).filter((one) => one.startsWith('test-'))
    expect(found).toEqual(expected)
  })

  test('a tenant tests no name that nobody has; a test of everybody may', () => {
    const spec = '  given: { name: free.example.com }\n  cases: [{ expect: { rcode: NXDOMAIN } }]\n'
    expect(complaints(spec, 'tenants/default/tests/a.yaml')).toEqual([
      expect.stringContaining('test-name-free'),
    ])
    expect(complaints(spec)).toEqual([])
  })

  test('no more is asked than a commit can wait for', () => {
    const cases = (count: number) =>
      `  given: { name: no.example.com }\n  expect: { rcode: NXDOMAIN }\n  cases:\n${'    - {}\n'.repeat(count)}`
    const more = { 'tests/b.yaml': `${head('Test', 'b')}spec:\n${cases(1_000)}` }
    expect(complaints(cases(1_000), 'tests/a.yaml', more)).toEqual([])
    const third = { ...more, 'tests/c.yaml': `${head('Test', 'c')}spec:\n${cases(1)}` }
    expect(complaints(cases(1_000), 'tests/a.yaml', third)).toEqual([
      'tests-too-many: the tests ask 2001 cases, and at most 2000 are asked at each commit',
    ])
  })
})

describe('gslbd test', () => {
  function directory(spec: string): string {
    const root = tempDir('policy-tests')
    for (const [path, text] of Object.entries({
      ...files,
      'tests/a.yaml': `${head('Test', 'a')}spec:\n${spec}`,
    })) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return root
  }
  const spec =
    '  given: { name: geo.example.com }\n  cases:\n' +
    '    - { name: Germany, given: { country: DE }, expect: { members: [192.0.2.1] } }\n' +
    '    - { name: "<America>", given: { country: US }, expect: { members: [192.0.2.1] } }\n'

  test('shows what was expected, what came, and how it came about', async () => {
    const { exit, out } = await runCli('test', '--config', directory(spec))
    expect(exit).toBe(1)
    expect(out).toContain('FAILED  tests/a.yaml (2 cases, 1 failed)')
    expect(out).toMatch(/members \(tests\/a.yaml:8:\d+\)\n {4}- expected {2}192.0.2.1\n/)
    expect(out).toMatch(/ {4}\+ got {7}192.0.2.2\n/)
    expect(out).toMatch(/how it was answered\n[^]*place {5}country US[^]*step {6}geo-ip: 192.0.2.2/)
    expect(out).toMatch(/1 failed, 1 passed of 2 cases\n$/)
  })

  test('says which errors keep it from asking, how many, and no warnings', async () => {
    const root = directory(spec)
    const path = 'tenants/default/pools/web.yaml'
    const empty = `${head('Pool', 'empty')}spec: {}\n`
    writeFileSync(join(root, 'tenants/default/pools/empty.yaml'), empty)
    writeFileSync(join(root, path), files[path]!.replace('192.0.2.1,', '192.0.2.300,'))
    const { exit, err } = await runCli('test', '--config', root)
    expect(exit).toBe(1)
    expect(err).toMatch(/^tenants\/default\/pools\/web\.yaml:6:\d+: error [^]*\n1 error\n$/)
    expect(err).not.toMatch(/warning|pool-empty/)
    const checked = await runCli('check', root)
    expect(checked.out).toMatch(/pool-empty[^]*\n1 error, 2 warnings, 1 note\n$/)
  })

  test('asks what a pattern names, and says so when that is nothing', async () => {
    const root = directory(spec)
    expect(await runCli('test', 'germ', '--config', root)).toMatchObject({ exit: 0 })
    expect(await runCli('test', 'spain', '--config', root)).toMatchObject({
      exit: 2,
      err: expect.stringContaining('no case has "spain"') as string,
    })
  })

  test('counts what no case has asked', async () => {
    const args = ['--coverage', '--format', 'json'] as const
    const { out } = await runCli('test', '--config', directory(spec), ...args)
    const report = JSON.parse(out) as TestReport
    expect(report).toMatchObject({ passed: 1, failed: 1 })
    expect(report.coverage).toEqual({
      services: { covered: 1, total: 6, missing: ['asn', 'dice', 'stuck', 'turns', 'www'] },
      steps: expect.objectContaining({ covered: 1 }) as object,
      geoRules: { covered: 0, total: 1, missing: ['web'] },
      responseRules: { covered: 0, total: 0, missing: [] },
    })
  })

  test('is XML that a program can read, whatever the names are', async () => {
    const { out } = await runCli('test', '--config', directory(spec), '--format', 'junit')
    expect(out).toContain('<testsuites name="gslbd" tests="2" failures="1">')
    expect(out).toContain('name="a: &lt;America&gt;"')
    expect(out).toContain('<failure message="members: expected 192.0.2.1, got 192.0.2.2">')
  })
})
