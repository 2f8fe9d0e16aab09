// Routing by client, seen from outside: a real daemon, databases on disk, queries with ECS.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import type { DaemonProcess } from '#test/support/daemon.ts'
import {
  askFor,
  askFrom,
  fra,
  fra6,
  iad,
  iad6,
  makeGeoSite,
  par,
  par6,
} from '#test/support/geo-site.ts'
import type { Site } from '#test/support/site.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons()
const [north, south] = ['192.0.2.41', '192.0.2.42']
const sorryDe = '192.0.2.91'
const sorryFr = '192.0.2.92'

/** The service, who asks, what is answered, and the scope; without ECS there is none. */
type Row = readonly [service: string, client: string | null, answer: string, scope?: number]

const rows: readonly Row[] = [
  // Distance: the algorithm geo-ip.
  ['near', '10.1.2.0/24', fra, 16],
  ['near', '10.2.2.0/24', par, 16],
  ['near', '10.3.2.1/32', iad, 16],
  ['near', '10.4.2.0/24', fra, 16],
  ['near', '2001:db8:1:2::/64', fra, 48],
  ['near', null, par],
  ['near', '0.0.0.0/0', par, 0],
  ['near', '::/0', par, 0],
  ['near', '::ffff:10.3.0.0/112', iad, 112],
  // Country, then priority: the filter geo-ip.
  ['country', '10.1.2.0/24', fra, 16],
  ['country', '10.2.0.0/16', par, 16],
  ['country', '10.3.0.0/20', iad, 16],
  ['country', '2001:db8:2::/48', par, 48],
  ['country', '2001:db8:9::/56', fra, 45],
  ['country', null, par],
  // Neither country nor continent has a member; a network that is not known is as good.
  ['country', '10.4.2.0/24', fra, 14],
  ['country', '10.5.1.0/24', fra, 14],
  ['country', '11.0.0.0/24', fra, 8],
  // A source that is shorter than what would have been needed.
  ['country', '10.0.0.0/8', fra, 16],
  // Rules of networks, in their order.
  ['map', '10.6.0.0/24', par, 24],
  ['map', '10.6.1.0/24', iad, 24],
  ['map', '10.6.200.0/24', iad, 17],
  ['map', '10.9.9.0/24', fra, 13],
  ['map', '2001:db8:5:1::/64', par, 48],
  ['map', '::ffff:10.6.0.0/120', par, 120],
  ['map', null, fra],
  // Operators, by number and by name; as a filter and as an algorithm.
  ['operator', '10.1.129.0/24', iad, 17],
  ['operator', '10.1.1.0/24', fra, 17],
  ['operator', '10.2.2.0/24', fra, 15],
  ['carrier', '10.1.129.0/24', iad, 17],
  ['carrier', '10.2.2.0/24', fra, 16],
  // Rules of the pool go before the algorithm.
  ['office', '10.20.1.0/24', south, 16],
  ['office', '10.21.1.0/24', north, 16],
  ['office', '10.128.0.0/24', north, 9],
  ['office', '10.16.0.0/12', north, 14],
  ['office', '11.1.1.0/24', north, 8],
  ['office', '2001:db8:20:1::/64', south, 48],
  ['office', '::ffff:10.20.1.0/120', south, 112],
  ['office', null, south],
  ['office', '0.0.0.0/0', south, 0],
  // Several addresses: their order depends on the client, too.
  ['two', '10.1.2.0/24', `${fra} ${par}`, 16],
  ['two', '10.3.2.0/24', `${iad} ${par}`, 16],
  ['two', null, `${par} ${fra}`],
  // Nobody asks who asks.
  ['plain', '10.3.2.0/24', fra, 0],
  ['plain', '2001:db8:2::/48', fra, 0],
  // All members are down: nothing, the enabled ones, another pool; chosen by the same steps.
  ['none', '10.1.2.0/24', 'NOERROR', 0],
  ['all', '10.1.2.0/24', '127.0.0.1', 16],
  ['all', '10.2.2.0/24', '127.0.0.3', 16],
  ['safe', '10.1.2.0/24', sorryDe, 16],
  ['safe', '10.2.2.0/24', sorryFr, 16],
  ['safe', null, sorryFr],
  // Replies that no member is in. RFC 7871 section 7.4.
  ['not-there', '10.1.2.0/24', 'NXDOMAIN', 0],
  ['ns1', '10.1.2.0/24', '127.0.0.1', 0],
]

const rows6: readonly Row[] = [
  ['near', '10.2.2.0/24', par6, 16],
  ['near', '10.3.2.0/24', iad6, 16],
  ['country', '2001:db8:1::/48', fra6, 48],
  ['country', '2001:db8:2::/128', par6, 48],
  ['two', '10.3.2.0/24', `${iad6} ${par6}`, 16],
  ['office', '10.20.1.0/24', 'NOERROR', 0],
]

const kinds = [
  ['UDP in batches', 1, '127.0.0.1'],
  ['UDP through node:dgram', 0, '127.0.0.1'],
  ['a socket of both families, UDP in batches', 1, '::'],
  ['a socket of both families, UDP through node:dgram', 0, '::'],
] as const

describe.each(kinds)('%s', (_title, threads, listenAddr) => {
  let site: Site
  let daemon: DaemonProcess
  const server = () => ({ host: '127.0.0.1', port: daemon.dnsPort })

  beforeAll(async () => {
    ;({ site } = await makeGeoSite('geo', { threads, listenAddr }))
    daemon = await start('serve', '--settings', site.settingsFile)
    await waitUntil('the first answers', async () => {
      const { answer } = await askFor(server(), 'safe', '10.1.2.0/24')
      return answer === sorryDe
    })
  })
  afterAll(async () => {
    await daemon.stop()
    site.remove()
  })

  test.each(['udp', 'tcp'])(
    'each client gets its member and the exact scope over %s',
    async (by) => {
      const seen: Row[] = []
      for (const [service, client] of rows) {
        const { answer, scope } = await askFor(server(), service, client, { tcp: by === 'tcp' })
        seen.push(
          scope === undefined ? [service, client, answer] : [service, client, answer, scope],
        )
      }
      expect(seen).toEqual(rows)
    },
  )

  test('IPv6 members are chosen in the same way', async () => {
    const seen: Row[] = []
    for (const [service, client] of rows6) {
      const { answer, scope } = await askFor(server(), service, client, { type: 'AAAA' })
      seen.push(scope === undefined ? [service, client, answer] : [service, client, answer, scope])
    }
    expect(seen).toEqual(rows6)
  })

  test('without ECS the address that a query comes from counts', async () => {
    for (const tcp of [false, true]) {
      expect(await askFrom(server(), '127.0.5.9', 'office', tcp)).toEqual({ answer: north })
      expect(await askFrom(server(), '127.0.6.9', 'office', tcp)).toEqual({ answer: south })
    }
  })

  if (listenAddr === '::') {
    test('the same for queries over IPv6', async () => {
      const over6 = { host: '::1', port: daemon.dnsPort }
      for (const tcp of [false, true]) {
        expect(await askFrom(over6, '::1', 'office', tcp)).toEqual({ answer: south })
        expect(await askFor(over6, 'office', '10.21.1.0/24', { tcp })).toEqual({
          answer: north,
          scope: 16,
        })
        expect(await askFor(over6, 'near', '::/0', { tcp })).toMatchObject({ scope: 0 })
        expect(await askFor(over6, 'sticky', '::/0', { tcp })).toMatchObject({ scope: 0 })
      }
    })
  }

  test('sticky: a /24 and a /64 have one member, and say so', async () => {
    for (const [one, other, bits] of [
      ['10.7.7.1/32', '10.7.7.255/32', 24],
      ['2001:db8:7:7::1/128', '2001:db8:7:7:ffff::/80', 64],
    ] as const) {
      const first = await askFor(server(), 'sticky', one)
      expect([first.scope, await askFor(server(), 'sticky', other)]).toEqual([bits, first])
    }
  })

  test('the metrics show both databases, and neither as broken', async () => {
    const samples = await daemon.metrics()
    for (const setting of ['geoip.dbPath', 'asn.dbPath']) {
      expect(samples.get(`gslbd_geo_database_broken{setting="${setting}"}`)).toBe(0)
      expect(samples.get(`gslbd_geo_database_networks{setting="${setting}"}`)).toBeGreaterThan(2)
    }
  })
})
