// gslbd simulate as a script calls it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { RrType } from '#dns/rrtype.ts'
import { Exit } from '#system/process/command.ts'
import type { Simulation } from '#judge/simulate/simulation.ts'
import { encode, member, pool, service, smallModel } from '#test/support/bundle-models.ts'
import { diagnosticCase, unpackCase } from '#test/support/case-file.ts'
import { encodeName } from '#test/support/dns/name.ts'
import { rule } from '#test/support/response-rules.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const run = (...argv: string[]) => runCli('simulate', ...argv)

function put(name: string, content: Uint8Array | string): string {
  const path = join(tempDir('simulate'), name)
  writeFileSync(path, content)
  return path
}

const model = {
  ...smallModel,
  pools: [
    pool(1, [
      member('192.0.2.1', { weight: 3, priority: 2 }),
      member('192.0.2.2', { weight: 1, priority: 1 }),
      member('192.0.2.3', { enabled: false }),
      member('192.0.2.4', { weight: 0 }),
      '2001:db8::1',
    ]),
  ],
  services: [
    service(1, 'rr.example.org.'),
    service(2, 'wrr.example.org.', { algorithm: 'weighted-round-robin' }),
    service(3, 'fo.example.org.', { algorithm: 'failover', ttlSeconds: 5 }),
    service(4, '*.apps.example.org.'),
    service(5, 'none.example.org.', { pool: -1 }),
  ],
}

async function simulated(name: string, ...args: string[]): Promise<Simulation> {
  const file = put('a.bundle', encode(model).bytes)
  const { exit, out, err } = await run(name, '--bundle', file, '--format', 'json', ...args)
  expect([exit, err]).toEqual([Exit.Ok, ''])
  return JSON.parse(out) as Simulation
}

describe('the answer', () => {
  const rows: readonly [query: string, expected: object][] = [
    ['rr.example.org.', { rcode: 'NOERROR', match: 'exact', service: { pick: '192.0.2.1' } }],
    ['RR.Example.ORG', { rcode: 'NOERROR', service: { pick: '192.0.2.1' } }],
    ['rr.example.org. --type AAAA', { service: { pick: '2001:db8::1' } }],
    ['rr.example.org. --type MX', { rcode: 'NOERROR', answerCount: 0, service: { pick: null } }],
    ['fo.example.org.', { service: { pick: '192.0.2.2', ttlSeconds: 5, algorithm: 'failover' } }],
    ['x.y.apps.example.org.', { match: 'wildcard', owner: '*.apps.example.org.' }],
    [
      'none.example.org.',
      { rcode: 'NOERROR', answerCount: 0, service: { pool: null, pick: null } },
    ],
    ['apps.example.org.', { rcode: 'NOERROR', match: 'exact', service: null, answerCount: 0 }],
    ['nope.example.org.', { rcode: 'NXDOMAIN', zone: 'example.org.', match: 'none' }],
    ['example.net.', { rcode: 'REFUSED', zone: null }],
    ['example.org. --type NS', { rcode: 'NOERROR', answerCount: 2 }],
    ['example.org. --type type6', { rcode: 'NOERROR', answerCount: 1 }],
    ['rr.example.org. --type AXFR', { rcode: 'REFUSED', zone: 'example.org.' }],
  ]
  test.each(rows)('to %s', async (query, expected) => {
    expect(await simulated(...(query.split(' ') as [string]))).toMatchObject(expected)
  })
})

test('says of each member why it is out', async () => {
  const health = put('health.json', '{"pool-1/192.0.2.2": false, "default/pool-1/192.0.2.1": true}')
  const { service: seen } = await simulated('rr.example.org.', '--health', health)
  expect(seen!.members.map(({ ipAddress, standing }) => [ipAddress, standing])).toEqual([
    ['192.0.2.1', 'candidate'],
    ['192.0.2.2', 'unhealthy'],
    ['192.0.2.3', 'disabled'],
    ['192.0.2.4', 'candidate'],
  ])
  expect(seen!.distribution).toEqual([
    { ipAddress: '192.0.2.1', count: 500, places: [500] },
    { ipAddress: '192.0.2.4', count: 500, places: [500] },
  ])
  const { service: byWeight } = await simulated('wrr.example.org.', '--health', health)
  expect(byWeight!.members[3]).toMatchObject({ ipAddress: '192.0.2.4', standing: 'weight-0' })
  expect(byWeight!.mayAnswer).toEqual(['192.0.2.1'])
})

test('says why a member is unhealthy and since when, as the status in the API has it', async () => {
  const status = {
    ...{ healthy: false, score: 0, rttMs: 0, healthyNodes: 0, totalNodes: 1, nodes: [] },
    ...{ reason: 'HTTP 503, expected 200', since: 1_700_000_000_000, lastCheck: 1_700_000_060_000 },
  }
  const health = put('health.json', JSON.stringify({ 'pool-1/192.0.2.2': status }))
  const { service: seen } = await simulated('rr.example.org.', '--health', health)
  const { reason, since, lastCheck } = status
  expect(seen!.members[1]).toMatchObject({
    standing: 'unhealthy',
    score: 0,
    reason,
    since,
    lastCheck,
  })
  const file = put('a.bundle', encode(model).bytes)
  const { out } = await run('rr.example.org', '--bundle', file, '--health', health)
  expect(out).toContain('out: unhealthy, HTTP 503, expected 200, since 2023-11-14T22:13:20.000Z\n')
})

test('does not give an unhealthy member the score of a healthy one', async () => {
  const health = put('health.json', '{"pool-1/192.0.2.2": false}')
  const { service: seen } = await simulated('rr.example.org.', '--health', health)
  expect(seen!.members.map(({ score }) => score)).toEqual([1, 0, 1, 1])
})

describe('shares', () => {
  test('follow the algorithm, and are the same for a seed', async () => {
    const share = async (name: string, ...args: string[]) =>
      (await simulated(name, '--count', '10000', ...args)).service!.distribution.map(
        ({ count }) => count,
      )
    expect(await share('rr.example.org.')).toEqual([3334, 3333, 3333])
    expect(await share('fo.example.org.')).toEqual([10_000])
    const weighted = await share('wrr.example.org.', '--seed', '7')
    expect(Math.abs(weighted[0]! - 7500)).toBeLessThan(250)
    expect(await share('wrr.example.org.', '--seed', '7')).toEqual(weighted)
    expect(await share('wrr.example.org.', '--seed', '8')).not.toEqual(weighted)
  })

  test('are left out with a count of 0', async () => {
    expect((await simulated('rr.example.org.', '--count', '0')).service!.distribution).toEqual([])
  })
})

test('text shows each step', async () => {
  const file = put('a.bundle', encode(model).bytes)
  const health = put('health.json', '{"pool-1/192.0.2.2": false}')
  const args = ['--bundle', file, '--health', health, '--count', '10']
  const where = ['--client', '198.51.100.7', '--at', '2026-01-31T12:00:00Z']
  const { out } = await run('fo.example.org', ...args, ...where)
  expect(out).toBe(`question  fo.example.org. A
client    198.51.100.7 (the answer does not depend on it: scope 0)
at        2026-01-31T12:00:00.000Z (nothing in this configuration depends on it)
zone      example.org.
name      exists
service   service-3 of tenant default, failover, TTL 5
pool      pool-1
          192.0.2.1            weight 3, priority 2
          192.0.2.2            weight 1, priority 1, out: unhealthy
          192.0.2.3            weight 1, no priority, out: disabled
          192.0.2.4            weight 0, no priority
shares    of 10 answers in a row, seed 1
          192.0.2.1            10 (100.0 %)
answer    192.0.2.1, TTL 5
`)
  const names = ['192.0.2.1', '192.0.2.2', '192.0.2.4'].map((address) => `pool-1/${address}`)
  const none = Object.fromEntries(names.map((name) => [name, false]))
  const allDown = put('health.json', JSON.stringify(none))
  const down = await run('fo.example.org', '--bundle', file, '--health', allDown)
  expect(down.out).toContain('answer    NOERROR without records: no member may answer\n')
})

describe('an alias to a service that answers aliases', () => {
  const file = () => {
    const named = ['a', 'b'].map((host) => member('', { hostname: `${host}.cdn.net.` }))
    const bytes = encode({
      ...model,
      pools: [pool(1, named, { answer: 'cname' })],
      services: [
        service(1, 'dice.example.org.', { algorithm: 'weighted-round-robin' }),
        service(2, 'network.example.org.', { filterChain: ['sticky'] }),
      ],
      rrsets: ['dice', 'network'].map((name) => ({
        ...{ name: `to-${name}.example.org.`, zone: 0, type: RrType.CNAME, ttlSeconds: 60 },
        rdata: [encodeName(`${name}.example.org.`)],
      })),
    }).bytes
    return put('aliases.bundle', bytes)
  }

  test.each([
    ['dice', [], 2],
    ['dice', ['--client', '192.0.2.0/24'], 2],
    ['network', [], 1],
    // Its answer ends with the alias: who is told a scope has to ask for the next name.
    ['network', ['--client', '192.0.2.0/24'], 1],
  ])('is explained by %s %j', async (name, args, first) => {
    const asked = async (qname: string) => {
      const { exit, out, err } = await run(
        ...[qname, '--bundle', file(), '--format', 'json', '--count', '50', ...args],
      )
      expect([exit, err]).toEqual([Exit.Ok, ''])
      return JSON.parse(out) as Simulation
    }
    const [own, alias] = [await asked(`${name}.example.org`), await asked(`to-${name}.example.org`)]
    expect(alias.service).toEqual(own.service)
    expect(own.service!.pick).toMatch(/^[ab]\.cdn\.net\.$/)
    expect(own.service!.distribution.filter(({ count }) => count > 0)).toHaveLength(first)
  })
})

describe('a response rule', () => {
  const alias = { action: 'cname', target: 'sorry.example.net.' } as const
  const responseRules = [
    rule(1, 'domain', 'bad.example.'),
    rule(2, 'exact', 'fo.example.org.', { ...alias, source: 'feed' }),
    rule(3, 'domain', 'rr.example.org.', { action: 'passthru' }),
  ]
  const text = async (name: string): Promise<string> => {
    const file = put('a.bundle', encode({ ...model, responseRules }).bytes)
    return (await run(name, '--bundle', file, '--count', '0')).out
  }

  test('that denies a name is named before everything else', async () => {
    expect(await text('x.bad.example')).toBe(`question  x.bad.example. A
rule      domain bad.example. of local: no such name
zone      none of ours
answer    NXDOMAIN
`)
  })

  test('that makes an alias hides the service', async () => {
    expect(await text('fo.example.org')).toBe(`question  fo.example.org. A
rule      exact fo.example.org. of feed: alias of sorry.example.net.
zone      example.org.
answer    NOERROR, 1 record
          fo.example.org. 60 IN CNAME sorry.example.net.
`)
  })

  test('that lets a name pass is shown, and all that follows', async () => {
    const out = await text('rr.example.org')
    expect(out).toContain('rule      domain rr.example.org. of local: passes\n')
    expect(out).toContain('service   service-1')
    expect(out).toContain('answer    192.0.2.1')
  })
})

test('a configuration directory is compiled first', async () => {
  const quickstart = join(import.meta.dirname, '../../../examples/quickstart')
  const { exit, out } = await run('api.example.com.', '--config', quickstart)
  expect([exit, out.includes('answer    127.0.0.11, TTL 5')]).toEqual([Exit.Ok, true])
  const broken = unpackCase(diagnosticCase('pool-unknown'), tempDir())
  const failed = await run('api.example.com.', '--config', broken)
  expect(failed.exit).toBe(Exit.ErrorsFound)
  expect(failed.err).toContain('pool-unknown')
})

describe('a wrong call is explained', () => {
  const bundle = (): string => put('a.bundle', encode(model).bytes)
  const withHealth = (text: string) => (): string[] => [
    'rr.example.org',
    '--bundle',
    bundle(),
    '--health',
    put('h.json', text),
  ]
  const rows: readonly [title: string, args: () => string[], text: string, exit?: Exit][] = [
    ['no name', () => [], 'give one name'],
    ['a name that is none', () => ['a..b'], 'not a domain name (label-empty)'],
    ['an unknown type', () => ['a.', '--type', 'AAA'], 'did you mean "A'],
    ['a type beyond 16 bits', () => ['a.', '--type', 'TYPE65536'], 'not a known type'],
    ['a count that is too high', () => ['a.', '--count', '10000001'], 'from 0 to 10000000'],
    ['a seed that is no number', () => ['a.', '--seed', '-1'], '--seed'],
    ['a client that is a name', () => ['a.', '--client', 'localhost'], 'not an IP address'],
    ['a time that is none', () => ['a.', '--at', 'tomorrow'], 'not a time'],
    ['a time that cannot be', () => ['a.', '--at', '2026-13-01T00:00:00Z'], 'not a time'],
    ['an unknown format', () => ['a.', '--format', 'yaml'], 'text or json'],
    ['two sources', () => ['a.', '--config', '.', '--bundle', 'x'], 'not both'],
    ['no such file', () => ['a.', '--bundle', '/nowhere/x'], 'does not exist'],
    ['no such directory', () => ['a.', '--config', '/nowhere/x'], 'does not exist'],
    ['health that is no JSON', withHealth('{'), 'h.json:'],
    ['health that is a list', withHealth('[]'), 'POOL/ADDRESS'],
    ['health in words', withHealth('{"pool-1/192.0.2.1": "down"}'), 'POOL/ADDRESS'],
    [
      'health of nobody',
      withHealth('{"pool-1/192.0.2.9": false}'),
      'did you mean "pool-1/192.0.2.1"?',
    ],
    [
      'a damaged bundle',
      () => ['a.', '--bundle', put('x.bundle', 'x')],
      '(truncated)',
      Exit.ErrorsFound,
    ],
  ]
  test.each(rows)('%s', async (_title, args, text, exit = Exit.Usage) => {
    const result = await run(...args())
    expect(result.err).toContain(text)
    expect(result.exit).toBe(exit)
  })
})
