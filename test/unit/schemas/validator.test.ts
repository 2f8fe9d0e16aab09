// The schemas accept what is allowed, fill in defaults and refuse the rest.
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { bundleLimits } from '#bundle/format/limits.ts'
import {
  algorithmNamed,
  algorithms as routingAlgorithms,
  filters,
  spellingsOf,
} from '#routing/choose/ways.ts'
import { jsonSchemaOf } from '#schemas/json-schema.ts'
import { kindNames } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'
import { asnRulesMax } from '#schemas/objects/routing-settings.ts'
import { membersPerPoolMax } from '#schemas/objects/pool.ts'
import {
  algorithms,
  answerCountMax,
  filterLengthMax,
  filtersPerChainMax,
} from '#schemas/objects/service.ts'
import { validate } from '#schemas/validator.ts'

function object(kind: Kind, spec: unknown) {
  return { apiVersion: 'gslb/v1', kind, metadata: { name: 'x' }, spec }
}
const member = { ipAddress: '192.0.2.1', port: 80 }
const settings = (group: string, fields: object) => object('Settings', { [group]: fields })
const asnRule = (fields: object) =>
  settings('asn', { rules: [{ ...fields, endpoint: '192.0.2.1' }] })
const pool = (fields: object) => object('Pool', { members: [{ ...member, ...fields }] })
const check = (fields: object) => object('Pool', { healthCheck: fields })
const service = (fields: object) => {
  const spec = { domain: 'a.example.' }
  // Own fields as they are: a spread or an assignment would treat __proto__ as the prototype.
  return object('Service', Object.defineProperties(spec, Object.getOwnPropertyDescriptors(fields)))
}

test.each(kindNames)('the schema of a %s is valid JSON Schema', (kind) => {
  const ajv = new Ajv({ strict: false })
  expect([ajv.validateSchema(jsonSchemaOf(kind)), ajv.errors]).toEqual([true, null])
})

test('a member without options has the defaults', () => {
  const value = object('Pool', { members: [{ ...member }] })
  expect(validate('Pool', value)).toEqual([])
  expect(value.spec).toEqual({
    answer: 'addresses',
    minHealthy: 0,
    geoRules: [],
    members: [
      {
        ...member,
        name: '',
        hostname: '',
        from: '',
        weight: 1,
        priority: 0,
        enabled: true,
        region: 'unknown',
        ...{ provider: '', site: '', capacity: 100 },
        warmupThreshold: 0,
        rumUrl: '',
        externalSignalMode: 'and',
      },
    ],
  })
})

test('an empty health check has the defaults', () => {
  const value = object('Pool', { healthCheck: {} })
  expect(validate('Pool', value)).toEqual([])
  expect((value.spec as { healthCheck: unknown }).healthCheck).toEqual({
    type: 'tcp',
    port: 80,
    intervalMs: 10_000,
    timeoutMs: 2_000,
    riseCount: 1,
    fallCount: 1,
    scoreWindow: 0,
    httpPath: '/',
    httpHost: '',
    httpExpectedStatus: 200,
    httpContains: '',
    tls: false,
    insecureSkipVerify: false,
    icmpCount: 3,
    scriptPath: '',
    scriptContent: '',
    webhookURL: '',
    webhookMethod: 'POST',
    httpMethod: 'GET',
    httpHeaders: {},
    httpExpectedStatuses: [],
    clientCertificate: '',
    grpcService: '',
    dnsName: '',
    dnsType: 'A',
    dnsRcode: 'NOERROR',
    dnsContains: '',
  })
})

test('a service has round robin, 60 seconds and no pool by default', () => {
  const value = service({})
  expect(validate('Service', value)).toEqual([])
  expect(value.spec).toEqual({
    domain: 'a.example.',
    algorithm: 'round-robin',
    ttl: 60,
    pool: null,
    filterChain: [],
    onAllDown: 'empty',
    weakSpots: true,
    answerCount: 1,
  })
})

test('routing settings have the defaults', () => {
  const value = object('Settings', { signals: {}, latency: {}, geoip: {}, mapFile: {}, asn: {} })
  expect(validate('Settings', value)).toEqual([])
  expect(value.spec).toEqual({
    zones: [],
    signals: { static: {}, weight: 0.5 },
    latency: { regionBonusMultiplier: 1, minRTTThresholdMs: 5, fallbackRegion: 'unknown' },
    geoip: { endpointLocations: {} },
    mapFile: { rules: [] },
    asn: { rules: [] },
  })
})

test('a geo rule has the priority 100 by default', () => {
  const rule = { cidr: '192.0.2.0/24', endpoint: '192.0.2.1' }
  const value = object('Pool', { geoRules: [rule] })
  expect(validate('Pool', value)).toEqual([])
  expect(rule).toEqual({ ...rule, priority: 100 })
})

const accepted: readonly [title: string, kind: Kind, value: unknown][] = [
  ['weight 0, which drains', 'Pool', pool({ weight: 0 })],
  ['the largest weight and priority', 'Pool', pool({ weight: 1_000_000, priority: 1_000_000 })],
  ['a region that looks like a boolean', 'Pool', pool({ region: 'NO' })],
  [
    'planned fields with their defaults',
    'Pool',
    pool({ warmupThreshold: 0, rumUrl: '', externalSignalMode: 'and' }),
  ],
  ['the longest score', 'Pool', check({ scoreWindow: 1_000 })],
  ['the most echo requests', 'Pool', check({ type: 'icmp', icmpCount: 20 })],
  ['a script by path', 'Pool', check({ type: 'script', scriptPath: '/usr/lib/gslbd/probe' })],
  ['a webhook', 'Pool', check({ type: 'webhook', webhookURL: 'https://hc.example/?a=[]' })],
  ['status 0, which ignores the status', 'Pool', check({ httpExpectedStatus: 0 })],
  ['no geo rules', 'Pool', object('Pool', { geoRules: [] })],
  ['ttl 0 and the largest ttl', 'Service', service({ ttl: 2_147_483_647 })],
  ['an empty filter chain', 'Service', service({ filterChain: [] })],
  ['an empty algorithm', 'Service', service({ algorithm: '', filterChain: ['sticky'] })],
  ['every enabled member when all are down', 'Service', service({ onAllDown: 'all' })],
  ['a fallback pool', 'Service', service({ onAllDown: 'pool:a b' })],
  ['an empty group of a later version', 'Settings', object('Settings', { guardrails: {} })],
  [
    'the ends of the world',
    'Settings',
    settings('geoip', { endpointLocations: { '192.0.2.1': { lat: -90, lon: 180 } } }),
  ],
  ['the largest number of a system', 'Settings', asnRule({ asn: 4_294_967_295 })],
]
for (const [title, kind, value] of accepted) {
  test(`accepts ${title}`, () => expect(validate(kind, value)).toEqual([]))
}

const refused: readonly [title: string, kind: Kind, value: unknown, at: string, keyword: string][] =
  [
    ['a negative weight', 'Pool', pool({ weight: -1 }), 'spec.members.0.weight', 'minimum'],
    [
      'a weight above the limit',
      'Pool',
      pool({ weight: 1_000_001 }),
      'spec.members.0.weight',
      'maximum',
    ],
    ['a fraction', 'Pool', pool({ weight: 1.5 }), 'spec.members.0.weight', 'type'],
    ['port 0', 'Pool', pool({ port: 0 }), 'spec.members.0.port', 'minimum'],
    [
      'an interval below 100 ms',
      'Pool',
      check({ intervalMs: 99 }),
      'spec.healthCheck.intervalMs',
      'minimum',
    ],
    ['a rise count of 0', 'Pool', check({ riseCount: 0 }), 'spec.healthCheck.riseCount', 'minimum'],
    [
      'a fall count of 101',
      'Pool',
      check({ fallCount: 101 }),
      'spec.healthCheck.fallCount',
      'maximum',
    ],
    [
      'a path that would end the request line',
      'Pool',
      check({ httpPath: '/a HTTP/1.1\r\nX: y' }),
      'spec.healthCheck.httpPath',
      'pattern',
    ],
    [
      'a host that would add a header',
      'Pool',
      check({ httpHost: 'a\r\nX: y' }),
      'spec.healthCheck.httpHost',
      'pattern',
    ],
    ['a ttl of 32 bits', 'Service', service({ ttl: 2_147_483_648 }), 'spec.ttl', 'maximum'],
    [
      'more members than a pool may have',
      'Pool',
      object('Pool', { members: Array(4_097).fill(member) }),
      'spec.members',
      'maxItems',
    ],
    [
      'more geo rules than a pool may have',
      'Pool',
      object('Pool', {
        geoRules: Array(10_001).fill({ cidr: '192.0.2.0/24', endpoint: '192.0.2.1' }),
      }),
      'spec.geoRules',
      'maxItems',
    ],
    [
      'a chain of 17 filters',
      'Service',
      service({ filterChain: Array(17).fill('geo-ip') }),
      'spec.filterChain',
      'maxItems',
    ],
    [
      'a script of more than 64 KiB',
      'Service',
      service({ filterChain: [`script:${' '.repeat(65_536)}`] }),
      'spec.filterChain.0',
      'maxLength',
    ],
    [
      'a fallback without a name',
      'Service',
      service({ onAllDown: 'pool:' }),
      'spec.onAllDown',
      'pattern',
    ],
    ['no answers', 'Service', service({ answerCount: 0 }), 'spec.answerCount', 'minimum'],
    ['system number 0', 'Settings', asnRule({ asn: 0 }), 'spec.asn.rules.0.asn', 'minimum'],
    [
      'a place beyond the pole',
      'Settings',
      settings('geoip', { endpointLocations: { '192.0.2.1': { lat: 90.5, lon: 0 } } }),
      'spec.geoip.endpointLocations.192.0.2.1.lat',
      'maximum',
    ],
    [
      'half a place',
      'Settings',
      settings('geoip', { endpointLocations: { '192.0.2.1': { lat: 1 } } }),
      'spec.geoip.endpointLocations.192.0.2.1',
      'required',
    ],
    [
      'a signal that is no number',
      'Settings',
      settings('signals', { static: { DE: NaN } }),
      'spec.signals.static.DE',
      'type',
    ],
    [
      'a share above 1',
      'Settings',
      settings('signals', { weight: 1.5 }),
      'spec.signals.weight',
      'maximum',
    ],
    [
      'a bonus below 0',
      'Settings',
      settings('latency', { regionBonusMultiplier: -1 }),
      'spec.latency.regionBonusMultiplier',
      'minimum',
    ],
    [
      'a field named __proto__',
      'Service',
      service(JSON.parse('{"__proto__":{}}') as object),
      'spec',
      'additionalProperties',
    ],
  ]
for (const [title, kind, value, at, keyword] of refused) {
  test(`refuses ${title}`, () => {
    const found = validate(kind, value).map((fault) => `${fault.path.join('.')} ${fault.keyword}`)
    expect(found).toEqual([`${at} ${keyword}`])
  })
}

test('the algorithms of the schema are those of routing and their aliases', () => {
  expect([...algorithms].sort()).toEqual(routingAlgorithms.flatMap(spellingsOf).sort())
  for (const name of algorithms) expect(algorithmNamed(name)).toBeDefined()
})

test('a service of the schema fits into a bundle', () => {
  expect(filtersPerChainMax).toBe(bundleLimits.filtersPerChainMax)
  expect(answerCountMax).toBe(bundleLimits.answerCountMax)
  expect(filterLengthMax).toBe(bundleLimits.filterLengthMax)
})

test('the schema names every filter', () => {
  const text = JSON.stringify(jsonSchemaOf('Service'))
  for (const { name } of filters) expect(text).toContain(`\`${name}`)
})

test('a pool of the schema fits into a bundle', () => {
  expect(asnRulesMax).toBe(bundleLimits.asnRulesMax)
  expect(membersPerPoolMax).toBe(bundleLimits.membersPerPoolMax)
})
