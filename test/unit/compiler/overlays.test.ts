// Rollouts and windows in one tree: what is said of them together, and what becomes of them.
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import type { CompileResult } from '#compiler/compile.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { overlaysOf } from '#bundle/format/overlays.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { laneCount } from '#test/support/lane.ts'
import { sourceFile } from './fixture.ts'

const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec: { defaults: { nameservers: [{ name: ns1.example.net. }] } }
`
const pool = (...members: readonly string[]): string => `apiVersion: gslb/v1
kind: Pool
metadata: { name: web }
spec:
  members:
${members.map((fields, i) => `    - { name: m${i}, port: 443, ${fields} }`).join('\n')}
`
const two = pool('ipAddress: 192.0.2.1, weight: 100', 'ipAddress: 192.0.2.2, weight: 100')
const service = `apiVersion: gslb/v1
kind: Service
metadata: { name: www }
spec: { domain: www.example.com., algorithm: weighted-round-robin, pool: web }
`
const minute = (minutes: number): string =>
  new Date(Date.UTC(2027, 0, 31, 12, minutes)).toISOString()

function window(name: string, resource: string, from: number, to: number): [string, string] {
  const type = resource.includes('/') ? 'member' : 'pool'
  const text = `apiVersion: gslb/v1
kind: MaintenanceWindow
metadata: { name: ${name} }
spec:
  resourceType: ${type}
  resource: ${resource}
  startAt: ${minute(from)}
  endAt: ${minute(to)}
`
  return [`tenants/default/maintenance-windows/${name}.yaml`, text]
}

function rollout(name: string, fields: string): [string, string] {
  const text = `apiVersion: gslb/v1
kind: Rollout
metadata: { name: ${name} }
spec: { pool: web, startAt: "${minute(0)}", ${fields} }
`
  return [`tenants/default/rollouts/${name}.yaml`, text]
}

function compiled(...files: readonly [string, string][]): CompileResult {
  const given = new Map([
    ['gslb.yaml', settings],
    ['tenants/default/pools/web.yaml', two],
    ['tenants/default/services/www.yaml', service],
    ...files,
  ])
  const sources = [...given].map(([path, text]) => sourceFile(path, text))
  return createCompiler().compile(sources, { commit: '' })
}

const said = (result: CompileResult): string[] =>
  result.diagnostics.map((one) => `${one.code}: ${messageOf(one)}`)
const held = 'steps: [{ weightPct: 0, holdSeconds: 600 }, { weightPct: 100, holdSeconds: 0 }]'
const emptied = (minutes: number, family = 'IPv4'): string =>
  `overlay-empties-service: from ${minute(minutes).replace('.000', '')} the service "www" ` +
  `has no ${family} member to answer with`

describe('a service without members', () => {
  const dual = pool('ipAddress: 192.0.2.1', 'ipAddress: 192.0.2.2', 'ipAddress: "2001:db8::1"')
  const poolFile = (text: string): [string, string] => ['tenants/default/pools/web.yaml', text]
  const poolOf = (name: string, address: string): [string, string] => [
    `tenants/default/pools/${name}.yaml`,
    pool(`ipAddress: ${address}`).replace('web', name),
  ]
  const fallingBackOn = (onAllDown: string): [string, string] => [
    'tenants/default/services/www.yaml',
    service.replace('pool: web', `pool: web, onAllDown: "${onAllDown}"`),
  ]

  test.each<[string, [string, string][], string[]]>([
    ['one of two is out', [window('a', 'web/m0', 0, 10)], []],
    [
      'the windows of both overlap',
      [window('a', 'web/m0', 0, 10), window('b', 'web/m1', 5, 15)],
      [emptied(5)],
    ],
    [
      'one begins when the other ends',
      [window('a', 'web/m0', 0, 10), window('b', 'web/m1', 10, 20)],
      [],
    ],
    ['the pool is out', [window('a', 'web', 3, 10)], [emptied(3)]],
    [
      'the pool is out, and another one stands in',
      [window('a', 'web', 3, 10), poolOf('spare', '192.0.2.9'), fallingBackOn('pool:spare')],
      [],
    ],
    [
      'the one that stands in is out, too',
      [
        window('a', 'web', 3, 10),
        window('b', 'spare', 3, 10),
        poolOf('spare', '192.0.2.9'),
        fallingBackOn('pool:spare'),
      ],
      [emptied(3)],
    ],
    [
      'the one that stands in has the other family',
      [window('a', 'web', 3, 10), poolOf('spare', '"2001:db8::9"'), fallingBackOn('pool:spare')],
      [
        emptied(3),
        'fallback-ends-nowhere: the fallback pool "spare" answers nothing when it is wanted: ' +
          'it has no IPv4 address',
      ],
    ],
    [
      'fewer members are left than the pool must have',
      [window('a', 'web/m0', 2, 10), poolFile(`${two}  minHealthy: 2\n`)],
      [emptied(2)],
    ],
    [
      'fewer are left, and then those who are left answer',
      [window('a', 'web/m0', 2, 10), poolFile(`${two}  minHealthy: 2\n`), fallingBackOn('all')],
      [],
    ],
    [
      'all are asked when none is healthy, but none is left',
      [window('a', 'web', 2, 10), fallingBackOn('all')],
      [emptied(2)],
    ],
    [
      'a window meets a step of weight 0',
      [window('a', 'web/m0', 5, 20), rollout('r', `member: m1, ${held}`)],
      [emptied(5)],
    ],
    [
      'a step of weight 0 meets a window',
      [window('a', 'web/m0', -5, 20), rollout('r', `member: m1, ${held}`)],
      [emptied(0)],
    ],
    [
      'the step has ended when the window begins',
      [window('a', 'web/m0', 10, 20), rollout('r', `member: m1, ${held}`)],
      [],
    ],
    [
      'an abortion brings the member back in time',
      [
        window('a', 'web/m0', 5, 20),
        rollout('r', `member: m1, ${held}, intents: [{ intent: abort, at: "${minute(4)}" }]`),
      ],
      [],
    ],
    [
      'the other one is disabled',
      [
        poolFile(pool('ipAddress: 192.0.2.1', 'ipAddress: 192.0.2.2, enabled: false')),
        window('a', 'web/m0', 0, 10),
      ],
      [emptied(0)],
    ],
    [
      'it had none from the start',
      [poolFile(pool('ipAddress: 192.0.2.1, weight: 0')), window('a', 'web/m0', 0, 10)],
      [
        'pool-weightless: every enabled IPv4 member of the pool "web" has the weight 0, ' +
          'and "www" goes by weight',
      ],
    ],
    [
      'a step of weight 0 is nothing to who does not go by weight',
      [
        ['tenants/default/services/www.yaml', service.replace('weighted-round-robin', 'failover')],
        window('a', 'web/m0', 5, 20),
        rollout('r', `member: m1, ${held}`),
      ],
      [
        'rollout-unread: no service of the pool "web" looks at weights: ' +
          'the rollout changes no answer',
      ],
    ],
    [
      'its only member of a family is out',
      [poolFile(dual), window('a', 'web/m2', 0, 10)],
      [emptied(0, 'IPv6')],
    ],
    [
      'no service uses the pool',
      [
        ['tenants/default/services/www.yaml', service.replace('web', 'null')],
        window('a', 'web', 0, 10),
      ],
      ['pool-unused: no service uses the pool "web"'],
    ],
  ])('%s', (_name, files, expected) => {
    expect(said(compiled(...files))).toEqual(expected)
  })
})

describe('windows that overlap', () => {
  test.each<[string, [string, string][], number]>([
    ['of one member', [window('a', 'web/m0', 0, 10), window('b', 'web/192.0.2.1', 9, 20)], 1],
    ['of a member and its pool', [window('a', 'web/m0', 0, 10), window('b', 'web', 9, 20)], 1],
    ['of a pool and its member', [window('a', 'web', 0, 10), window('b', 'web/m0', 9, 20)], 1],
    ['of two members', [window('a', 'web/m0', 0, 10), window('b', 'web/m1', 9, 20)], 0],
    [
      'of one member, one after the other',
      [window('a', 'web', 0, 9), window('b', 'web', 9, 12)],
      0,
    ],
  ])('%s', (_name, files, count) => {
    const codes = compiled(...files).diagnostics.map(({ code }) => code)
    expect(codes.filter((code) => code === 'windows-overlap')).toHaveLength(count)
  })
})

describe('references', () => {
  test('are to members of the same tenant', () => {
    const [path, text] = window('a', 'web/m0', 0, 10)
    const tenant = 'apiVersion: gslb/v1\nkind: Tenant\nmetadata: { name: acme }\nspec: {}\n'
    const result = compiled(
      ['tenants/acme/tenant.yaml', tenant],
      [path.replace('default', 'acme'), text],
    )
    expect(said(result)).toEqual(['target-pool-unknown: there is no pool "web" in tenant "acme"'])
  })

  test('to a pool whose file is wrong have no message of their own', () => {
    const broken = two.replace('port: 443', 'prot: 443')
    const result = compiled(['tenants/default/pools/web.yaml', broken], window('a', 'web', 0, 10))
    expect(result.diagnostics.map(({ code }) => code)).toEqual(['field-unknown'])
  })

  test('suggest what was probably meant', () => {
    const result = compiled(rollout('r', `member: m00, ${held}`), window('a', 'wbe', 0, 10))
    expect(result.diagnostics.map(({ suggestion }) => suggestion)).toEqual(['web', 'm0'])
  })
})

test('the same tree always gives the same bundle, without its settled rollouts', () => {
  const files = [
    rollout('old', `member: m0, ${held}, settled: rolled_back`),
    rollout('new', `member: m0, ${held}`),
    window('night', 'web/m1', 0, 10),
  ]
  const [one, other] = [compiled(...files), compiled(...files.toReversed())]
  if (!one.ok || !other.ok) throw new Error('it compiles')
  expect(one.bundle.digest).toBe(other.bundle.digest)
  const loaded = loadBundle(one.bundle.bytes)
  if (!loaded.ok) throw new Error(loaded.error.message)
  const { rollouts, windows } = overlaysOf(loaded.value)
  expect(rollouts).toMatchObject([{ name: 'new', member: 0, baseWeight: 100 }])
  expect(windows).toMatchObject([{ name: 'night', member: 1 }])
})

test('ten thousand windows over a large pool take no time to speak of', () => {
  const members = Array.from({ length: 4_000 }, (_, i) => `ipAddress: 10.0.${i >> 8}.${i & 255}`)
  const count = laneCount(10_000, 2_000)
  const windows = Array.from({ length: count }, (_, i) =>
    window(`w${i}`, `web/m${i % 4_000}`, i, i + 5),
  )
  const before = process.threadCpuUsage()
  const result = compiled(['tenants/default/pools/web.yaml', pool(...members)], ...windows)
  expect(result.ok).toBe(true)
  // CPU time of this thread, whatever else the machine does. Reading the files is most of it; with
  // ten thousand, anything quadratic would take minutes.
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1e6).toBeLessThan(count / 400)
})
