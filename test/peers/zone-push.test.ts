// A zone that is pushed by signed updates to servers of others, which somebody else edits, too.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRfc2136 } from '#integrations/zone-push/targets/rfc2136.ts'
import { canonicalValue, keysOf, sorted } from '#integrations/zone-push/record-sets.ts'
import type { RecordSet } from '#integrations/zone-push/record-sets.ts'
import { ZonePusher } from '#integrations/zone-push/zone-pusher.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { keptLog } from '#test/support/certificates.ts'
import { testKey } from '#test/support/dns/signed.ts'
import { freePort } from '#test/support/free-port.ts'
import { saidBy } from '#test/support/said-by.ts'
import { memoryPushes } from '#test/support/zone-push/memory-target.ts'
import { primaryNames, startPrimary } from '#test/support/zone-push/primaries.ts'
import type { Primary } from '#test/support/zone-push/primaries.ts'

const zone = 'example.com.'
const key = testKey('push.example.')
const ofFile = { name: 'push.example.', secret: Buffer.from(key.secret).toString('base64') }
const zoneText = `$ORIGIN ${zone}
@ 3600 SOA ns1 admin 1 3600 600 86400 300
@ 3600 NS ns1
ns1 3600 A 127.0.0.1
foreign 60 TXT "somebody else's"
alias 60 CNAME elsewhere.example.net.
`
const digest = 'AB'.repeat(32)

/** `www 300 A 192.0.2.1`, and for several values `| 192.0.2.2` behind it. */
function set(line: string): RecordSet {
  const [, name = '', ttl = '', type = '', rest = ''] = /^(\S+) (\d+) (\S+) (.*)$/.exec(line) ?? []
  const values = rest.split(' | ').map((text) => canonicalValue(type, text) ?? expect.unreachable())
  return {
    owner: name === '@' ? zone : `${name}.${zone}`,
    ...{ type, ttlSeconds: Number(ttl), values: sorted(values) },
  }
}

const ofAllTypes = [
  'www 300 A 192.0.2.1 | 192.0.2.2',
  'www 300 AAAA 2001:db8::1',
  '@ 300 MX 10 www.example.com. | 20 mx.example.net.',
  '@ 300 TXT "v=spf1 -all" | "two" "strings; \\"quoted\\" \\\\ \\200"',
  `long 300 TXT "${'x'.repeat(255)}" "${'y'.repeat(200)}"`,
  '* 300 CNAME www.example.com.',
  '_sip._tcp 300 SRV 1 2 5060 www.example.com.',
  '@ 300 CAA 0 issue "ca.example.net; policy=ev"',
  'sub 300 NS ns1.example.com. | ns.example.net.',
  `sub 300 DS 12345 13 2 ${digest}`,
  `_443._tcp 300 TLSA 3 1 1 ${digest}`,
  `host 300 SSHFP 4 2 ${digest}`,
  '4.3.2.1 300 NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:info@example.com!" .',
  'svc 300 HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.1',
  'ptr 300 PTR www.example.com.',
]

interface PusherOptions {
  readonly key?: typeof key
  readonly offsetMs?: number
  readonly hasApexNs?: boolean
}

function pusherFor(port: number, options: PusherOptions = {}) {
  const zoneNow = { sets: ofAllTypes.map(set) }
  const { offsetMs = 0, hasApexNs = false } = options
  const clock = { ...systemClock, nowMs: () => Date.now() + offsetMs }
  const target = createRfc2136({
    ...{ zone, server: { address: '127.0.0.1', port }, key: () => ok(options.key ?? key), clock },
  })
  let passedMs = 0
  const store = memoryPushes()
  const pusher = new ZonePusher({
    settings: {
      ...{ name: 'peer', type: 'rfc2136', zone, intervalMs: 30_000, isAutomatic: true },
      ...{ deletesMax: 1_000, hasApexNs },
    },
    ...{ target, store, node: 'n1', instance: 'one', log: keptLog().log },
    clock: { nowMs: () => Date.now(), monotonicMs: () => passedMs },
    ...{ wanted: () => ok(zoneNow.sets), mark: () => '' },
  })
  const round = async () => {
    passedMs += 3_600_000
    await pusher.look()
    await pusher.idle()
    return pusher.state.report!
  }
  const there = async (): Promise<ReadonlySet<string>> => {
    const read = await target.read(AbortSignal.timeout(10_000))
    return keysOf(read.ok ? read.value : expect.unreachable(read.error))
  }
  return { pusher, zoneNow, round, there, target }
}

describe.each(primaryNames)('%s', (name) => {
  let primary: Primary
  beforeAll(async () => {
    primary = await startPrimary(name, zoneText, { zone, port: await freePort(), key: ofFile })
  }, 60_000)
  afterAll(() => primary?.stop())

  const update = async (...lines: readonly string[]): Promise<void> => {
    const input = [`server 127.0.0.1 ${primary.port}`, `zone ${zone}`, ...lines, 'send', '']
    const said = await saidBy('nsupdate', ['-y', `hmac-sha256:${ofFile.name}:${ofFile.secret}`], {
      input: input.join('\n'),
    })
    expect(said.code, said.text).toBe(0)
  }

  test('has all that is wanted, and what others wrote, after each change', async () => {
    const { zoneNow, round, there } = pusherFor(primary.port)
    const foreign = keysOf(
      [
        'ns1 3600 A 127.0.0.1',
        'foreign 60 TXT "somebody else\'s"',
        'alias 60 CNAME elsewhere.example.net.',
      ].map(set),
    )
    const expectThere = async (more: readonly string[] = []): Promise<void> => {
      const wanted = keysOf(zoneNow.sets)
        .union(foreign)
        .union(keysOf(more.map(set)))
      const now = await there()
      const own = [...now.difference(wanted)]
      expect([[...wanted.difference(now)], own.length]).toEqual([[], 1])
    }
    expect(await round()).toMatchObject({ fault: '', foreign: 3, conflicts: 0, adds: 0 })
    await expectThere()
    expect(await round()).toMatchObject({ fault: '', missing: 0, adds: 0, same: 19 })

    zoneNow.sets = [
      'www 60 A 192.0.2.1 | 192.0.2.3',
      'long 300 CNAME www.example.com.',
      '* 300 A 192.0.2.9',
      'alias 300 A 192.0.2.1',
    ].map(set)
    expect(await round()).toMatchObject({ fault: '', conflicts: 1 })
    zoneNow.sets = zoneNow.sets.slice(0, 3)
    await expectThere()

    await update('update add www.example.com. 60 A 192.0.2.77', 'update delete *.example.com. A')
    expect(await round()).toMatchObject({ fault: '', missing: 1, foreign: 4 })
    await expectThere(['www 60 A 192.0.2.77'])
    zoneNow.sets = []
    expect(await round()).toMatchObject({ fault: '', foreign: 4 })
    await expectThere(['www 60 A 192.0.2.77'])
  }, 60_000)

  test('takes a zone of many records in several updates', async () => {
    const { zoneNow, round } = pusherFor(primary.port)
    zoneNow.sets = Array.from({ length: 3_000 }, (_, i) => set(`many${i} 300 A 192.0.2.${i % 250}`))
    expect(await round()).toMatchObject({ fault: '', adds: 0, written: 3_000 })
    zoneNow.sets = zoneNow.sets.slice(0, 2_500)
    expect(await round()).toMatchObject({ fault: '', deletes: 0, written: 3_500 })
    zoneNow.sets = zoneNow.sets.map((one) => ({ ...one, ttlSeconds: 600 })).slice(0, 2_000)
    expect(await round()).toMatchObject({ fault: '', written: 6_000 })
    expect(await round()).toMatchObject({ fault: '', adds: 0, same: 2_000 })
    zoneNow.sets = []
    await round()
  }, 120_000)

  test('replaces all name servers of the zone, and gives them another TTL', async () => {
    const { pusher, zoneNow, round, target } = pusherFor(primary.port, { hasApexNs: true })
    const nameServers = async (): Promise<readonly string[]> => {
      const read = await target.read(AbortSignal.timeout(10_000))
      const sets = read.ok ? read.value : expect.unreachable(read.error)
      return sets.flatMap(({ owner, type, ttlSeconds, values }) =>
        owner === zone && type === 'NS' ? values.map((value) => `${ttlSeconds} ${value}`) : [],
      )
    }
    await pusher.ask({ plan: '', adopt: true, atMs: 1 })
    const steps = [
      ['3600', 'ns1.example.com.'],
      ['3600', 'new1.example.net.', 'new2.example.net.'],
      ['3600', 'new2.example.net.', 'new3.example.net.'],
      // Knot DNS keeps the TTL of name servers that stay.
      ...(name === 'knot' ? [] : ([['60', 'new2.example.net.', 'new3.example.net.']] as const)),
      ['300', 'other.example.net.'],
      ['3600', 'ns1.example.com.'],
    ] as const
    for (const [ttl, ...names] of steps) {
      zoneNow.sets = [set(`@ ${ttl} NS ${names.join(' | ')}`)]
      expect(await round()).toMatchObject({ fault: '' })
      expect(await nameServers()).toEqual(names.map((name) => `${ttl} ${name}`))
    }
    expect(await round()).toMatchObject({ fault: '', adds: 0, deletes: 0 })
    if (name === 'knot') {
      zoneNow.sets = [set('@ 60 NS ns1.example.com.')]
      const { written } = await round()
      const kept = await round()
      expect(kept).toMatchObject({ conflicts: 1, ttlChanges: 0, plan: '', written })
      expect(kept.notes[0]).toContain('not taken: it keeps the TTL 3600, and 60 was sent')
    }
    // A zone without name servers takes none away.
    zoneNow.sets = []
    expect(await round()).toMatchObject({ fault: '', deletes: 0 })
    expect(await nameServers()).toEqual(['3600 ns1.example.com.'])
  }, 60_000)

  test('loses an adopted record with capital letters when it is not wanted any more', async () => {
    await update('update add caps.example.com. 300 MX 10 Mail.example.net.')
    const { pusher, zoneNow, round, there } = pusherFor(primary.port)
    const caps = set('caps 300 MX 10 mail.example.net.')
    zoneNow.sets = [caps]
    await pusher.ask({ plan: '', adopt: true, atMs: 1 })
    expect(await round()).toMatchObject({ fault: '', adds: 0, same: 1 })
    zoneNow.sets = []
    expect(await round()).toMatchObject({ fault: '', written: 1 })
    expect((await there()).intersection(keysOf([caps])).size).toBe(0)
  }, 60_000)

  test('says what is wrong with a key, and with a clock', async () => {
    // PowerDNS answers all three without a signature.
    const wrongs = [
      [
        { key: testKey('push.example.', Buffer.alloc(32, 9)) },
        /has another secret|without a signature/,
      ],
      [{ key: testKey('other.example.') }, /does not know the key|without a signature/],
      [{ offsetMs: 3_600_000 }, /has a clock that is far from ours|without a signature/],
    ] as const
    for (const [options, why] of wrongs) {
      const { round } = pusherFor(primary.port, options)
      const { fault } = await round()
      expect(fault).toMatch(why)
      expect(fault).not.toContain(ofFile.secret)
    }
  }, 60_000)
})
