// Tests findings about routing in cases with a twist beyond the fixtures.
import { expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { whyUnmeasured } from '#compiler/lower/routing-facts.ts'
import { sourceFile } from './fixture.ts'

const pool = (name: string, spec: string, tenant = 'default') =>
  sourceFile(
    `tenants/${tenant}/pools/${name}.yaml`,
    `apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: ${name} }\nspec: ${spec}\n`,
  )
const service = (spec: string) =>
  sourceFile(
    'tenants/default/services/www.yaml',
    'apiVersion: gslb/v1\nkind: Service\nmetadata: { name: www }\n' +
      `spec: { domain: www.example.com., ${spec} }\n`,
  )
const settings = (spec: string) =>
  sourceFile(
    'gslb.yaml',
    'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\nspec: ' +
      `{ zones: [{ name: example.com., nameservers: [{ name: ns1.example.net. }] }], ${spec} }\n`,
  )
const member = (octet: number, more = '') =>
  `{ ipAddress: 192.0.2.${octet}, port: 443${more === '' ? '' : `, ${more}`} }`
const members = (...octets: number[]) => `members: [${octets.map((n) => member(n)).join(', ')}]`

type Files = readonly ReturnType<typeof sourceFile>[]

function said(files: Files): string[] {
  const report = createCompiler().compile(files, { commit: '' })
  return report.diagnostics.map((one) => {
    const meant = one.suggestion === '' ? '' : ` (${one.suggestion}?)`
    return `${one.code}: ${messageOf(one)}${meant}`
  })
}

const two = pool('web', `{ ${members(10, 11)} }`)
const mapOf = (...rules: (readonly [cidr: string, octet: number])[]) => {
  const list = rules.map(([cidr, n]) => `{ cidr: "${cidr}", endpoint: 192.0.2.${n} }`)
  return settings(`mapFile: { rules: [${list.join(', ')}] }`)
}
const web = service('pool: web')

const cases: readonly [title: string, files: Files, expected: readonly string[]][] = [
  [
    'a slip of the hand in a filter is guessed',
    [settings(''), two, service('pool: web, filterChain: [fail-over]')],
    ['filter-unknown: there is no filter "fail-over" (failover?)'],
  ],
  [
    'a slip in the name of a fallback is guessed',
    [
      settings(''),
      two,
      pool('sorry', `{ ${members(90)} }`),
      service('pool: web, onAllDown: "pool:sory"'),
    ],
    ['pool-unknown: there is no pool "sory" in tenant "default" (sorry?)'],
  ],
  [
    'a pool that only stands in for another is used',
    [
      settings(''),
      two,
      pool('sorry', `{ ${members(90)} }`),
      service('pool: web, onAllDown: "pool:sorry"'),
    ],
    [],
  ],
  [
    'two rules for one network are an order of preference, not a mistake',
    [mapOf(['198.51.100.0/24', 10], ['198.51.100.0/24', 11]), two, web],
    [],
  ],
  [
    'the smaller network first is how it should be',
    [mapOf(['198.51.100.0/24', 11], ['198.51.0.0/16', 10]), two, web],
    [],
  ],
  [
    'a rule for a member of another pool hides nothing',
    [
      mapOf(['198.51.0.0/16', 20], ['198.51.100.0/24', 10]),
      two,
      pool('other', `{ ${members(20)} }`),
      service('pool: web, onAllDown: "pool:other"'),
    ],
    [],
  ],
  [
    'a mapped network hides the IPv4 network inside it',
    [mapOf(['::ffff:198.51.0.0/112', 10], ['198.51.100.0/24', 11]), two, web],
    [
      'map-rule-shadowed: the rule for 198.51.100.0/24 is reached only while 192.0.2.10 is down: ' +
        'the rule for ::ffff:198.51.0.0/112 comes first',
    ],
  ],
  [
    'a pool that cannot be read may have the member',
    [mapOf(['198.51.0.0/16', 10]), pool('web', '{ members: 5 }'), web],
    ['field-shape: members must be a list, got 5'],
  ],
  [
    'one rule for a member of the pool is enough',
    [mapOf(['198.51.0.0/16', 10]), two, service('pool: web, algorithm: mapfile')],
    [],
  ],
  [
    'one place is enough, in whatever spelling',
    [
      settings('geoip: { endpointLocations: { "2001:DB8:0::A": { lat: 1, lon: 2 } } }'),
      pool('web', '{ members: [{ ipAddress: "2001:db8::a", port: 443 }] }'),
      service('pool: web, algorithm: geoip'),
    ],
    [],
  ],
  [
    'a member without a region beside those of one region can be told apart',
    [
      settings(''),
      pool('web', `{ members: [${member(10, 'region: "DE"')}, ${member(11)}] }`),
      service('pool: web, filterChain: [geoip]'),
    ],
    [],
  ],
  [
    'the default algorithm beside a chain is not pointed out',
    [settings(''), two, service('pool: web, algorithm: round-robin, filterChain: [failover]')],
    [],
  ],
  [
    'answerCount goes by the larger family',
    [
      settings(''),
      pool('web', `{ members: [${member(10)}, { ipAddress: "2001:db8::a", port: 443 }] }`),
      service('pool: web, answerCount: 2'),
    ],
    ['answer-count-unreached: answerCount is 2 and a reply from the pool "web" has at most 1'],
  ],
  [
    'a geo rule inside another for the same member matters when one between is for another',
    [
      settings(''),
      pool(
        'web',
        `{ ${members(10, 11)}, geoRules: [{ cidr: 10.0.0.0/8, endpoint: 192.0.2.10 }, ` +
          '{ cidr: 10.1.0.0/16, endpoint: 192.0.2.11 }, ' +
          '{ cidr: 10.1.1.0/24, endpoint: 192.0.2.10 }] }',
      ),
      web,
    ],
    [],
  ],
]
for (const [title, files, expected] of cases) {
  test(title, () => expect(said(files)).toEqual(expected))
}

test.each([
  ['tcp', undefined],
  ['http', undefined],
  ['icmp', undefined],
  ['script', 'a health check of type script, which measures no round trip'],
  ['webhook', 'a health check of type webhook, which measures no round trip'],
] as const)('why probes of type %s measure no round trip', (type, expected) => {
  expect(whyUnmeasured({ type })).toBe(expected)
})
