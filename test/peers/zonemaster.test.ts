// A delegated zone of a node as Zonemaster sees it, on port 53 of a network made for it.
import { execFile } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { mainPath } from '#test/support/daemon.ts'
import { Site } from '#test/support/site.ts'

interface Finding {
  readonly level: string
  readonly tag: string
}

/** Every finding there is. One that no longer shows must be removed. */
const expected: Readonly<Record<string, string>> = {
  NOT_SIGNED: 'zones are not signed',
  NEITHER_DNSKEY_NOR_DS: 'the same, said of parent and child',
  SOA_DEFAULT_TTL_MAXIMUM_VALUE_LOWER:
    'resolvers keep "no records" for so long after the members are back',
  Z09_MISSING_MAIL_TARGET: 'a zone has no MX records',
}

const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - name: gslb.test.
      nameservers:
        - { name: ns1.gslb.test., addresses: ["11.1.1.53", "2a01:1::53"] }
        - { name: ns2.gslb.test., addresses: ["44.2.2.53", "2b02:2::53"] }
      soa: { rname: hostmaster.mail.test. }
`

/** The parent; names of addresses and the mailbox are its, too. */
const rootZone = `$TTL 86400
. SOA a.root-servers.net. hostmaster.mail.test. 1 14400 3600 604800 3600
. NS a.root-servers.net.
a.root-servers.net. A 198.41.0.4
a.root-servers.net. AAAA 2001:503:ba3e::2:30
gslb.test. NS ns1.gslb.test.
gslb.test. NS ns2.gslb.test.
ns1.gslb.test. A 11.1.1.53
ns1.gslb.test. AAAA 2a01:1::53
ns2.gslb.test. A 44.2.2.53
ns2.gslb.test. AAAA 2b02:2::53
mail.test. MX 10 mail.test.
mail.test. A 11.1.1.25
53.1.1.11.in-addr.arpa. PTR ns1.gslb.test.
53.2.2.44.in-addr.arpa. PTR ns2.gslb.test.
${reverse6('2a010001')} PTR ns1.gslb.test.
${reverse6('2b020002')} PTR ns2.gslb.test.
`

/** Name of the PTR record of `PREFIX::53`. */
function reverse6(prefix: string): string {
  const digits = `${prefix}${'53'.padStart(32 - prefix.length, '0')}`
  return `${[...digits].reverse().join('.')}.ip6.arpa.`
}

const nsdConf = `server:
  ip-address: 198.41.0.4
  ip-address: 2001:503:ba3e::2:30
  username: ""
  zonesdir: "."
  database: ""
  pidfile: ""
  xfrdfile: "xfrd.state"
  zonelistfile: "zone.list"
  cookie-secret-file: ""
remote-control:
  control-enable: no
zone:
  name: "."
  zonefile: "root.zone"
`

const hints = `. 3600000 NS a.root-servers.net.
a.root-servers.net. 3600000 A 198.41.0.4
a.root-servers.net. 3600000 AAAA 2001:503:ba3e::2:30
`

test('Zonemaster finds nothing in a zone but what is known', { timeout: 300_000 }, async () => {
  const site = await Site.make('zonemaster', {
    dns: { listenAddr: '::', port: 53 },
    api: { enabled: false },
    logging: { format: 'json' },
  })
  onTestFinished(() => site.remove())
  site.write('gslb.yaml', settings)
  site.write(
    'tenants/default/services/www.yaml',
    'apiVersion: gslb/v1\nkind: Service\nmetadata: { name: www }\n' +
      'spec: { domain: www.gslb.test., ttl: 30, pool: web }\n',
  )
  await site.commit('zone')
  await site.push()
  const files = { 'root.zone': rootZone, 'nsd.conf': nsdConf, hints }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(site.path, name), text)
  const script = join(site.path, 'network.sh')
  copyFileSync(join(import.meta.dirname, 'zonemaster-network.sh'), script)
  const { stdout } = await promisify(execFile)(
    'unshare',
    [
      ...['--user', '--map-root-user', '--net', '--fork', '--kill-child'],
      ...['sh', script, site.path, process.execPath, mainPath],
    ],
    { env: { PATH: `${process.env['PATH']}:/usr/sbin:/sbin`, LC_ALL: 'C' }, timeout: 240_000 },
  )
  const found = (JSON.parse(stdout) as readonly Finding[]).map(({ tag }) => tag)
  expect([...new Set(found)].sort()).toEqual(Object.keys(expected).sort())
})
