// ALIAS records under a node with a real name server: at the apex, beside MX, and followed.
import { afterAll, expect, test } from 'vitest'
import { useDaemons } from '#test/support/daemon.ts'
import { freePort } from '#test/support/free-port.ts'
import { Site } from '#test/support/site.ts'
import { startUnbound } from '#test/support/unbound.ts'
import { waitUntil } from '#test/support/wait-until.ts'

const { start } = useDaemons({})
const patienceMs = 240_000
let site: Site
let stopResolver = async (): Promise<void> => undefined
afterAll(() => stopResolver())
afterAll(() => site?.remove())

const there = (v4: string, v6: string): string[] => [
  'example.net. 5 IN SOA ns.example.net. root.example.net. 1 5 5 5 5',
  `edge.example.net. 5 IN A ${v4}`,
  `edge.example.net. 5 IN AAAA ${v6}`,
]

test(
  'an ALIAS at the apex has the addresses of its target, now, later, and when nobody knows them',
  async () => {
    const port = await freePort()
    stopResolver = await startUnbound(port, there('192.0.2.21', '2001:db8::21'))
    site = await Site.make('alias-records', { dns: { resolvers: [`127.0.0.1:${port}`] } })
    site.write(
      'tenants/default/records/apex.yaml',
      'apiVersion: gslb/v1\nkind: Records\nmetadata: { name: apex }\n' +
        'spec:\n  zone: example.com.\n  records:\n' +
        '    - { name: "@", type: ALIAS, ttl: 30, values: [edge.example.net.] }\n' +
        '    - { name: "@", type: MX, ttl: 30, values: ["10 mail.example.net."] }\n',
    )
    await site.commit('an alias at the apex')
    await site.push()
    const daemon = await start('serve', '--settings', site.settingsFile)
    const answered = (v4: string, v6: string) =>
      waitUntil(`the address ${v4}`, async () => {
        const lines = [
          ...(await daemon.answers('example.com. A')),
          ...(await daemon.answers('example.com. AAAA')),
        ]
        const wanted = [`example.com. 30 IN A ${v4}`, `example.com. 30 IN AAAA ${v6}`]
        return JSON.stringify(lines) === JSON.stringify(wanted)
      })
    await answered('192.0.2.21', '2001:db8::21')
    expect(await daemon.answers('example.com. MX')).toEqual([
      'example.com. 30 IN MX 10 mail.example.net.',
    ])

    await stopResolver()
    stopResolver = await startUnbound(port, there('192.0.2.22', '2001:db8::22'))
    await answered('192.0.2.22', '2001:db8::22')

    await stopResolver()
    stopResolver = () => Promise.resolve()
    await answered('192.0.2.22', '2001:db8::22')
  },
  patienceMs,
)
