// Route 53 and Cloudflare, in the shapes of their references: what is sent, what is left alone, and
// what is said where they refuse it.
import { describe, expect, test } from 'vitest'
import { cloudflareLimits, route53Limits } from '#integrations/zone-push/limits.ts'
import { PacedRequests } from '#integrations/zone-push/paced-requests.ts'
import { planOf } from '#integrations/zone-push/plan.ts'
import type { PushTarget } from '#integrations/zone-push/push-target.ts'
import { canonicalValue, keysOf, sorted } from '#integrations/zone-push/record-sets.ts'
import type { RecordSet } from '#integrations/zone-push/record-sets.ts'
import { sendAll } from '#integrations/zone-push/send-all.ts'
import { createCloudflare } from '#integrations/zone-push/targets/cloudflare.ts'
import { createRoute53 } from '#integrations/zone-push/targets/route53.ts'
import { ok } from '#lib/result.ts'
import { startCloudflare } from '#test/support/zone-push/cloudflare-stand-in.ts'
import { awsTestKey, startRoute53 } from '#test/support/zone-push/route53-stand-in.ts'

const zone = 'example.com.'
const signal = new AbortController().signal
const digest = 'AB'.repeat(32)

/** `www 300 A 192.0.2.1`, and for several values `| 192.0.2.2` behind it. */
function set(line: string): RecordSet {
  const [, name = '', ttl = '', type = '', rest = ''] = /^(\S+) (\d+) (\S+) (.*)$/.exec(line) ?? []
  const values = rest.split(' | ').map((text) => canonicalValue(type, text) ?? expect.unreachable())
  const owner = name === '@' ? zone : `${name}.${zone}`
  return { owner, type, ttlSeconds: Number(ttl), values: sorted(values) }
}

/** Time that passes by waiting alone. */
function waits() {
  const waited: number[] = []
  let nowMs = 0
  return {
    waited,
    wait: async (ms: number) => {
      waited.push(ms)
      nowMs += ms
    },
    clock: { nowMs: () => 0, monotonicMs: () => nowMs },
  }
}

async function push(target: PushTarget, wanted: readonly RecordSet[], owned = new Set<string>()) {
  const there = await target.read(signal)
  if (!there.ok) return there.error
  const plan = planOf({ zone, wanted, owned, there: there.value, skipped: [], hasApexNs: false })
  const sent = await sendAll(plan.changes, target, owned, signal)
  return { plan, ...sent }
}

const ofAllTypes = [
  'www 300 A 192.0.2.1 | 192.0.2.2',
  'www 300 AAAA 2001:db8::1',
  '@ 300 MX 10 mx1.example.com. | 20 mx2.example.net.',
  '@ 300 TXT "v=spf1 -all" | "two" "strings; \\"quoted\\" \\\\"',
  `long 300 TXT "${'x'.repeat(255)}" "${'y'.repeat(200)}"`,
  '* 300 CNAME www.example.com.',
  '_sip._tcp 300 SRV 1 2 5060 sip.example.com.',
  '@ 300 CAA 0 issue "ca.example.net; policy=ev"',
  'sub 300 NS ns1.example.com. | ns.example.net.',
  `sub 300 DS 12345 13 2 ${digest}`,
  `_443._tcp 300 TLSA 3 1 1 ${digest}`,
  `host 300 SSHFP 4 2 ${digest}`,
  '4.3.2.1 300 NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:info@example.com!" .',
  'svc 300 HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.1',
  'ptr 300 PTR www.example.com.',
].map(set)

async function route53(options: { nowMs?: () => number; key?: typeof awsTestKey } = {}) {
  const serviceMs = Date.UTC(2026, 10, 30)
  const service = await startRoute53('Z1', () => serviceMs)
  const time = waits()
  const target = createRoute53({
    ...{ url: service.url, zoneId: 'Z1', key: () => ok(options.key ?? awsTestKey) },
    requests: new PacedRequests(route53Limits.pauseMs, time),
    clock: { nowMs: options.nowMs ?? (() => serviceMs) },
  })
  return { target, time, ...service }
}

async function cloudflare(token = 'hush') {
  const service = await startCloudflare('c1', 'hush')
  const time = waits()
  const target = createCloudflare({
    ...{ url: service.url, zoneId: 'c1', token: () => ok(token) },
    requests: new PacedRequests(cloudflareLimits.pauseMs, time),
  })
  return { target, time, ...service }
}

const clouds = { route53, cloudflare }

describe.each(Object.keys(clouds) as (keyof typeof clouds)[])('%s', (name) => {
  test('has all types as they are wanted, changes them, and takes them away', async () => {
    const { target } = await clouds[name]()
    const first = await push(target, ofAllTypes)
    expect(first).toMatchObject({ fault: '', written: 19 })
    const owned = new Set(keysOf(ofAllTypes))
    expect(await push(target, ofAllTypes, owned)).toMatchObject({
      plan: { changes: [], foreign: [] },
    })
    const changed = ['www 60 A 192.0.2.1 | 192.0.2.3', 'long 300 CNAME www.example.com.'].map(set)
    expect(await push(target, changed, owned)).toMatchObject({ fault: '' })
    for (const key of keysOf(changed)) owned.add(key)
    expect(await push(target, changed, owned)).toMatchObject({ plan: { changes: [], foreign: [] } })
    expect(await push(target, [], owned)).toMatchObject({ fault: '' })
    expect(await push(target, [])).toMatchObject({ plan: { changes: [], foreign: [] } })
  })

  test('keeps a record of others in a set of ours', async () => {
    const { target } = await clouds[name]()
    await push(target, [set('www 300 A 192.0.2.9')])
    const wanted = [set('www 60 A 192.0.2.1')]
    await push(target, wanted)
    const owned = new Set(keysOf(wanted))
    expect(await push(target, [], owned)).toMatchObject({ fault: '', written: 1 })
    const left = await target.read(signal)
    expect(left).toMatchObject({ value: [{ ttlSeconds: 300, values: ['192.0.2.9'] }] })
  })

  test('takes the rest where one record is refused', async () => {
    const { target } = await clouds[name]()
    const wanted = ['a', 'b', 'bad', 'c', 'd'].map((one) => set(`${one} 300 A 192.0.2.1`))
    const sent = await push(target, wanted)
    expect(sent).toMatchObject({ written: 4 })
    expect((sent as { fault: string }).fault).toMatch(/answers 400.* \(at bad\.example\.com\.\)$/)
  })

  test('takes many records by several requests', async () => {
    const { target, asked } = await clouds[name]()
    const wanted = Array.from({ length: 1_500 }, (_, i) => set(`n${i} 300 A 192.0.2.1`))
    expect(await push(target, wanted)).toMatchObject({ fault: '', written: 1_500 })
    expect(asked.filter(({ method }) => method === 'POST')).toHaveLength(name === 'route53' ? 2 : 8)
  })

  test('is asked at most so often as it permits, and waits where it is told to', async () => {
    const { target, time, world } = await clouds[name]()
    await push(target, ofAllTypes)
    await push(target, ofAllTypes)
    expect(Math.max(...time.waited)).toBe(name === 'route53' ? 250 : 300)
    world.throttled = 2
    expect(await push(target, [])).toMatchObject({ fault: '' })
    expect(Math.max(...time.waited)).toBe(2_000)
    world.throttled = 99
    const sent = await push(target, [])
    expect(sent).toMatch(
      name === 'route53' ? /400 Throttling: Rate exceeded/ : /429: Too many requests/,
    )
  })
})

describe('Route 53', () => {
  test('what has a routing policy or is an alias is left alone', async () => {
    const { target, put } = await route53()
    const record =
      '<ResourceRecords><ResourceRecord><Value>192.0.2.7</Value></ResourceRecord></ResourceRecords>'
    put(
      'www.example.com.',
      'A',
      `<SetIdentifier>one</SetIdentifier><Weight>1</Weight><TTL>60</TTL>${record}`,
    )
    put(
      'www.example.com.',
      'A',
      `<SetIdentifier>two</SetIdentifier><Weight>1</Weight><TTL>60</TTL>${record}`,
    )
    put(
      'alias.example.com.',
      'A',
      '<AliasTarget><HostedZoneId>Z2</HostedZoneId><DNSName>lb.example.</DNSName><EvaluateTargetHealth>false</EvaluateTargetHealth></AliasTarget>',
    )
    put(
      '\\052.example.com.',
      'TXT',
      '<TTL>60</TTL><ResourceRecords><ResourceRecord><Value>"\\303\\244"</Value></ResourceRecord></ResourceRecords>',
    )
    const wanted = ['www 60 A 192.0.2.1', 'alias 60 A 192.0.2.1', '* 60 TXT "\\195\\164"'].map(set)
    const sent = await push(target, wanted)
    expect(sent).toMatchObject({ written: 0, plan: { changes: [], same: 1 } })
    expect((sent as { plan: { conflicts: unknown } }).plan.conflicts).toMatchObject([
      { owner: 'alias.example.com.', why: 'it is an alias of Route 53' },
      { owner: 'www.example.com.', why: 'it has a routing policy of Route 53' },
    ])
  })

  test('a set that somebody changes between reading and writing is not overwritten', async () => {
    const { target, world } = await route53()
    await push(target, [set('www 300 A 192.0.2.1')])
    const there = await target.read(signal)
    const owned = new Set(keysOf([set('www 300 A 192.0.2.1')]))
    const wanted = [set('www 300 A 192.0.2.2')]
    const plan = planOf({
      zone,
      wanted,
      owned,
      there: there.ok ? there.value : [],
      skipped: [],
      hasApexNs: false,
    })
    await push(target, [set('www 300 A 192.0.2.1 | 192.0.2.77')])
    const sent = await target.send(plan.changes, signal)
    expect(sent).toMatchObject({
      is: 'refused',
      why: expect.stringContaining('do not match') as string,
    })
    expect([...world.sets.values()][0]!.xml).toContain('192.0.2.77')
  })

  test.each([
    [
      'a wrong secret',
      { key: { ...awsTestKey, secretAccessKey: 'other-hush' } },
      /403 SignatureDoesNotMatch.*; look at the credentials/,
    ],
    [
      'a clock that is behind',
      { nowMs: () => Date.UTC(2026, 10, 30) - 1_000_000 },
      /403 RequestExpired.*; the clock of this node is 1000 s behind: set it/,
    ],
  ])('%s is said, without the secret', async (_, options, why) => {
    const { target } = await route53(options)
    const fault = await push(target, ofAllTypes)
    expect(fault).toMatch(why)
    expect(fault).not.toContain('hush')
  })

  test('temporary credentials are sent with their token', async () => {
    const { target, asked } = await route53({ key: { ...awsTestKey, sessionToken: 'a+token/==' } })
    await push(target, [])
    expect(asked[0]!.headers['x-amz-security-token']).toBe('a+token/==')
    expect(asked[0]!.headers['authorization']).toContain('host;x-amz-date;x-amz-security-token')
  })
})

describe('Cloudflare', () => {
  test('a proxied record is left alone, and short TTLs are those that it takes', async () => {
    const { target, put } = await cloudflare()
    put({ type: 'A', name: 'www.example.com', content: '192.0.2.7', proxied: true })
    const fit = target.fit(set('a 5 A 192.0.2.1'))
    expect(fit).toMatchObject({ ttlSeconds: 60 })
    expect(target.fit({ ...set('a 5 A 192.0.2.1'), type: 'HINFO' })).toBe(
      'Cloudflare gets no records of type HINFO',
    )
    const sent = await push(target, [set('www 60 A 192.0.2.1')])
    expect(sent).toMatchObject({
      written: 0,
      plan: { conflicts: [{ why: expect.stringContaining('proxied') as string }] },
    })
  })

  test('values are read in each of the forms that it has for them', async () => {
    const { target, put } = await cloudflare()
    put({ type: 'TXT', name: 'a.example.com', content: 'v=spf1 -all' })
    put({
      type: 'SRV',
      name: '_sip._tcp.example.com',
      content: '2 5060 sip.example.com',
      priority: 1,
    })
    put({ type: 'CAA', name: 'example.com', content: '0 issue "ca.example.net"' })
    put({ type: 'MX', name: 'example.com', content: 'mx.example.com', priority: 10 })
    const read = await target.read(signal)
    expect(read.ok && read.value.map(({ values }) => values[0])).toEqual([
      '"v=spf1 -all"',
      '1 2 5060 sip.example.com.',
      '0 issue "ca.example.net"',
      '10 mx.example.com.',
    ])
  })

  test('a wrong token is said, without the token', async () => {
    const { target } = await cloudflare('other-hush')
    const fault = await push(target, [])
    expect(fault).toMatch(/403: Invalid access token \(9109\); look at the token/)
    expect(fault).not.toContain('hush')
  })
})
