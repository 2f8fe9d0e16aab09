// Tests the notes and warnings about the effect of one failure, or one window, on names.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { printText } from '#diagnostics/print/text.ts'
import { notePoolOutages } from '#compiler/rules/tree/redundancy.ts'
import type { Observe } from '#compiler/tree/observe.ts'
import { expectCommitted } from '../schemas/committed-file.ts'
import { compileFixture, sourceFile } from './fixture.ts'

const nowMs = Date.UTC(2026, 10, 23)
const codes = ['weak-spot', 'member-over-capacity', 'fallback-ends-nowhere', 'window-leaves-one']

interface Parts {
  /** One a member, behind its address. */
  readonly web: readonly string[]
  readonly spare?: readonly string[]
  /** More fields of the pool web; default: it is probed. */
  readonly pool?: string
  readonly service?: string
  readonly more?: Readonly<Record<string, string>>
}

/** Messages of the four rules. */
function told(
  { web, spare = [], pool = 'healthCheck: {}', service = '', more = {} }: Parts,
  observe: Observe | null = null,
) {
  const head = (kind: string, name: string): string =>
    `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`
  const members = (list: readonly string[]): string =>
    `[${list.map((one) => `{ port: 80, ipAddress: ${one} }`).join(', ')}]`
  const files: Record<string, string> = {
    'gslb.yaml':
      head('Settings', 'settings') +
      'spec: { zones: [{ name: example.com., nameservers: [{ name: ns1.example.net. }] }] }',
    'tenants/default/pools/web.yaml':
      head('Pool', 'web') + `spec: { members: ${members(web)}${pool === '' ? '' : `, ${pool}`} }`,
    'tenants/default/services/www.yaml':
      head('Service', 'www') +
      `spec: { domain: www.example.com., pool: web${service === '' ? '' : `, ${service}`} }`,
    ...more,
  }
  if (spare.length > 0) {
    files['tenants/default/pools/spare.yaml'] =
      head('Pool', 'spare') + `spec: { healthCheck: {}, members: ${members(spare)} }`
  }
  const sources = Object.entries(files).map(([path, text]) => sourceFile(path, text))
  const result = createCompiler({ observe }).compile(sources, { commit: '', nowMs })
  expect(result.ok, JSON.stringify(result.diagnostics)).toBe(true)
  return result.diagnostics.filter(({ code }) => codes.includes(code)).map(messageOf)
}

const [a, b, c] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const
const [a6, b6] = ['2001:db8::1', '2001:db8::2'] as const
const no = (what: string, noun = 'IPv4 address'): readonly string[] => [
  `when ${what} is down, www.example.com. has no ${noun}`,
]

const weak: readonly (readonly [string, Parts, readonly string[]])[] = [
  ['one member', { web: [a] }, no(`the member ${a}`)],
  ['two members', { web: [a, b] }, []],
  ['one that is not probed', { web: [a], pool: '' }, []],
  ['the other is disabled', { web: [a, `${b}, enabled: false`] }, no(`the member ${a}`)],
  [
    'the other weighs nothing',
    { web: [a, `${b}, weight: 0`], service: 'algorithm: wrr' },
    no(`the member ${a}`),
  ],
  ['a weight that nobody reads', { web: [a, `${b}, weight: 0`] }, []],
  [
    'too few for minHealthy',
    { web: [a, b], pool: 'healthCheck: {}, minHealthy: 2' },
    no(`the member ${a}`),
  ],
  ['one of IPv4 beside IPv6', { web: [a, a6, b6] }, no(`the member ${a}`)],
  ['one of IPv6 beside IPv4', { web: [a, b, a6] }, []],
  ['one of IPv6 alone', { web: [a6] }, no(`the member ${a6}`, 'IPv6 address')],
  ['one site', { web: [`${a}, site: fra1`, `${b}, site: fra1`] }, no('the site "fra1"')],
  ['two sites', { web: [`${a}, site: fra1`, `${b}, site: fra2`] }, []],
  ['a site and one that says none', { web: [`${a}, site: fra1`, b] }, []],
  ['one region', { web: [`${a}, region: DE`, `${b}, region: DE`] }, no('the region "DE"')],
  ['the region of the default', { web: [`${a}, region: unknown`, b] }, []],
  [
    'one provider in two regions',
    { web: [`${a}, region: DE, provider: x`, `${b}, region: FR, provider: x`] },
    no('the provider "x"'),
  ],
  [
    'the smallest is told',
    { web: [`${a}, site: s, provider: x`, `${b}, site: s, provider: x`] },
    no('the site "s"'),
  ],
  ['a fallback stands in', { web: [a], spare: [b], service: 'onAllDown: "pool:spare"' }, []],
  [
    'a fallback with the same provider',
    {
      ...{ web: [`${a}, provider: x`, `${b}, provider: x`], spare: [`${c}, provider: x`] },
      service: 'onAllDown: "pool:spare"',
    },
    no('the provider "x"'),
  ],
  ['all are asked when all are down', { web: [a], service: 'onAllDown: all' }, []],
  ['it is meant', { web: [a], service: 'weakSpots: false' }, []],
  ['nobody is enabled, which is told of the pool', { web: [`${a}, enabled: false`] }, []],
  [
    'several names',
    {
      web: [a],
      more: Object.fromEntries(
        [1, 2].map((i) => [
          `tenants/default/services/x${i}.yaml`,
          `apiVersion: gslb/v1\nkind: Service\nmetadata: { name: x${i} }\n` +
            `spec: { domain: x${i}.example.com., pool: web }`,
        ]),
      ),
    },
    [`when the member ${a} is down, www.example.com. and 2 more names has no IPv4 address`],
  ],
]

describe('a name without an answer', () => {
  test.each(weak)('%s', (_, parts, expected) => {
    expect(told(parts)).toEqual(expected)
  })
})

const withSpare = 'onAllDown: "pool:spare"'
const pools: readonly (readonly [string, Parts, readonly string[]])[] = [
  ['without a fallback', { web: [a, b] }, no('the pool "web"')],
  ['with one', { web: [a, b], spare: [c], service: withSpare }, []],
  [
    'with one that has members of the pool alone',
    { web: [a, b, c], spare: [b, c], service: withSpare },
    [
      ...no('the pool "web"'),
      'the fallback pool "spare" answers nothing when it is wanted: each of its members is one of "web", too',
    ],
  ],
  [
    'with one that too few are left of',
    {
      ...{ web: [a, b], service: withSpare },
      more: {
        'tenants/default/pools/spare.yaml':
          'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: spare }\nspec: { healthCheck: {}, ' +
          `minHealthy: 2, members: [{ port: 80, ipAddress: ${b} }, { port: 80, ipAddress: ${c} }] }`,
      },
    },
    no('the pool "web"'),
  ],
  ['where less is enough', { web: [a] }, no(`the member ${a}`)],
  ['that is not probed', { web: [a, b], pool: '' }, []],
  ['that is asked all the same', { web: [a, b], service: 'onAllDown: all' }, []],
  ['where it is meant', { web: [a, b], service: 'weakSpots: false' }, []],
]

describe('a pool that is down as a whole, when that is asked', () => {
  test.each(pools)('%s', (_, parts, expected) => {
    expect(told(parts, notePoolOutages)).toEqual(expected)
  })
})

const at = (address: string, share: string, capacity: number, when: string): string =>
  `${when}, ${address} gets ${share} % of the clients of www.example.com., ` +
  `and its capacity is ${capacity}`
const up = 'with all members up'
const capacities: readonly (readonly [string, Parts, readonly string[]])[] = [
  ['all bear all', { web: [a, b] }, []],
  ['more than it bears, always', { web: [`${a}, capacity: 40`, b] }, [at(a, '50', 40, up)]],
  [
    'more than it bears, when another is down',
    { web: [`${a}, capacity: 40`, b, c] },
    [at(a, '50', 40, `when the member ${b} is down`)],
  ],
  ['as much as it bears', { web: [`${a}, capacity: 50`, b, c] }, []],
  ['without probes nobody goes down', { web: [`${a}, capacity: 40`, b, c], pool: '' }, []],
  [
    'by weight, when the heaviest is down',
    {
      web: [`${a}, weight: 1, capacity: 30`, `${b}, weight: 2`, `${c}, weight: 3`],
      service: 'algorithm: weighted-round-robin',
    },
    [at(a, '33.3', 30, `when the member ${c} is down`)],
  ],
  [
    'the heaviest itself',
    {
      web: [`${a}, weight: 1`, `${b}, weight: 2`, `${c}, weight: 3, capacity: 70`],
      service: 'algorithm: weighted-round-robin',
    },
    [at(c, '75', 70, `when the member ${b} is down`)],
  ],
  [
    'when a site is down',
    {
      web: [`${a}, site: x`, `${b}, site: x`, `${c}, site: y, capacity: 60`],
    },
    [at(c, '100', 60, 'when the site "x" is down')],
  ],
  [
    'the second of failover',
    {
      web: [`${a}, priority: 1`, `${b}, priority: 2, capacity: 50`],
      service: 'algorithm: failover',
    },
    [at(b, '100', 50, `when the member ${a} is down`)],
  ],
  [
    'the first of failover; 0 comes last',
    {
      web: [`${a}, priority: 0`, `${b}, priority: 2, capacity: 50`],
      service: 'algorithm: failover',
    },
    [at(b, '100', 50, up)],
  ],
  [
    'the third of failover, when a provider is down',
    {
      web: [
        `${a}, priority: 1, provider: x`,
        `${b}, priority: 2, provider: x`,
        `${c}, priority: 3, capacity: 50`,
      ],
      service: 'algorithm: failover',
    },
    [at(c, '100', 50, 'when the provider "x" is down')],
  ],
  [
    'families are two pools of members',
    { web: [`${a}, capacity: 60`, a6, b6], service: 'onAllDown: all' },
    [at(a, '100', 60, up)],
  ],
  [
    'a way that goes by clients',
    { web: [`${a}, capacity: 1`, b], service: 'algorithm: geo-ip' },
    [],
  ],
  ['it is meant', { web: [`${a}, capacity: 1`, b], service: 'weakSpots: false' }, []],
]

describe('a member that gets more than it bears', () => {
  test.each(capacities)('%s', (_, parts, expected) => {
    expect(told(parts)).toEqual(expected)
  })

  test('the shares of one failure are those of a count', () => {
    const weights = [7, 1, 3, 3, 9, 2]
    const sites = ['p', 'q', 'p', '', 'r', 'q']
    const share = (i: number, isDown: (j: number) => boolean): number => {
      const all = weights.reduce((sum, one, j) => sum + (isDown(j) ? 0 : one), 0)
      return isDown(i) ? 0 : (weights[i]! / all) * 100
    }
    const units = [weights.map((_, i) => `m${i}`), sites]
    for (const i of weights.keys()) {
      const most = Math.max(
        ...units.flatMap((keys) =>
          keys.filter((key) => key !== '').map((key) => share(i, (j) => keys[j] === key)),
        ),
      )
      for (const [capacity, count] of [
        [Math.ceil(most), 0],
        [Math.ceil(most) - 1, 1],
      ] as const) {
        const web = weights.map((weight, j) => {
          const own = j === i ? `, capacity: ${capacity}` : ''
          return `192.0.2.${j}, weight: ${weight}, site: "${sites[j]}"${own}`
        })
        expect(told({ web, service: 'algorithm: wrr' })).toHaveLength(count)
      }
    }
  })
})

const fallback = { web: [a, b], service: 'onAllDown: "pool:spare"' }
test.each<readonly [string, Parts, string]>([
  ['one that stands elsewhere', { ...fallback, spare: [c] }, ''],
  ['one that stands elsewhere in part', { ...fallback, spare: [a, c] }, ''],
  ['the same members', { ...fallback, spare: [b] }, 'each of its members is one of "web", too'],
  ['another family', { ...fallback, spare: [a6] }, 'it has no IPv4 address'],
  [
    'none is enabled, which is told of the pool',
    { ...fallback, spare: [`${c}, enabled: false`] },
    '',
  ],
  [
    'it is meant',
    { web: [a], spare: [a], service: 'onAllDown: "pool:spare", weakSpots: false' },
    '',
  ],
])('a fallback: %s', (_, parts, why) => {
  const message = `the fallback pool "spare" answers nothing when it is wanted: ${why}`
  expect(told(parts)).toEqual(why === '' ? [] : [message])
})

const window = (from: string, until: string, resource = 'member, resource: web/192.0.2.1') => ({
  'tenants/default/maintenance-windows/w.yaml':
    'apiVersion: gslb/v1\nkind: MaintenanceWindow\nmetadata: { name: w }\n' +
    `spec: { resourceType: ${resource}, startAt: ${from}, endAt: ${until} }`,
})
const rollout = {
  'tenants/default/rollouts/r.yaml':
    'apiVersion: gslb/v1\nkind: Rollout\nmetadata: { name: r }\n' +
    'spec: { pool: web, member: 192.0.2.1, startAt: 2026-11-25T00:00:00Z, ' +
    'steps: [{ weightPct: 0, holdSeconds: 3600 }, { weightPct: 100, holdSeconds: 0 }] }',
}
const saturday = window('2026-11-28T02:00:00Z', '2026-11-28T04:00:00Z')
const left = 'one member of the pool "web" is left for www.example.com.'

test.each<readonly [string, Parts, readonly string[]]>([
  [
    'of two',
    { web: [a, b], more: saturday },
    [`on Saturday 2026-11-28 from 02:00 to 04:00 UTC ${left}`],
  ],
  ['of three', { web: [a, b, c], more: saturday }, []],
  ['of one, which has none anyway', { web: [a], pool: '', more: {} }, []],
  [
    'over midnight',
    { web: [a, b], more: window('2026-11-28T22:00:00Z', '2026-11-29T04:00:00Z') },
    [`from Saturday 2026-11-28 22:00 to Sunday 2026-11-29 04:00 UTC ${left}`],
  ],
  [
    'it has begun',
    { web: [a, b], more: window('2026-11-22T22:00:00Z', '2026-11-23T04:00:00Z') },
    [`from Sunday 2026-11-22 22:00 to Monday 2026-11-23 04:00 UTC ${left}`],
  ],
  ['it is over', { web: [a, b], more: window('2026-11-20T22:00:00Z', '2026-11-21T04:00:00Z') }, []],
  [
    'in three weeks',
    { web: [a, b], more: window('2026-12-20T22:00:00Z', '2026-12-21T04:00:00Z') },
    [],
  ],
  [
    'a fallback stands in',
    { web: [a, b], spare: [c], service: 'onAllDown: "pool:spare"', more: saturday },
    [],
  ],
  ['it is meant', { web: [a, b], service: 'weakSpots: false', more: saturday }, []],
  [
    'a rollout that takes all weight',
    { web: [a, b], service: 'algorithm: wrr', more: rollout },
    [`on Wednesday 2026-11-25 from 00:00 to 01:00 UTC ${left}`],
  ],
])('windows and rollouts leave one: %s', (_, parts, expected) => {
  expect(told(parts)).toEqual(expected)
})

test('check says where they are', () => {
  const folder = 'test/golden/weak-spots'
  const result = compileFixture(join(import.meta.dirname, '../../..', folder, 'input'))
  expect(new Set(result.diagnostics.map(({ code }) => code))).toEqual(new Set(codes))
  expectCommitted(`${folder}/expected.text`, printText(result))
})
