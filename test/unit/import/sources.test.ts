// gslbd import octodns, route53 and cloudflare: what maps compiles, what does not is listed.
import { join } from 'node:path'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { BundleModel } from '#bundle/format/model.ts'
import { readConfigDirectory } from '#gitops/checkout/config-directory.ts'
import { Exit } from '#system/process/command.ts'
import { createCompiler } from '#compiler/compile.ts'
import { printText } from '#diagnostics/print/text.ts'
import { rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const fixtures = join(import.meta.dirname, '../../fixtures/import')

async function imported(source: string, file: string, ...options: readonly string[]) {
  const target = join(tempDir('import'), 'config')
  const args = ['import', source, join(fixtures, file), '-o', target, ...options]
  const { exit, out, err } = await runCli(...args)
  expect([exit, err]).toEqual([Exit.Ok, ''])
  return { target, out: out.replaceAll(join(fixtures, file), 'F') }
}

function compiled(target: string): BundleModel {
  const settings = join(target, 'gslb.yaml')
  // An export without name servers leaves them to people.
  const text = readFileSync(settings, 'utf8')
  if (!text.includes('nameservers')) {
    writeFileSync(settings, `${text}  defaults: { nameservers: [{ name: ns1.example.net. }] }\n`)
  }
  const files = readConfigDirectory(target)
  if (!files.ok) throw new Error(files.error)
  const result = createCompiler().compile(files.value, { commit: '' })
  if (!result.ok) throw new Error(printText(result))
  return result.model
}

/** Services as lines: how they choose, and among what. */
function servicesOf({ services, pools }: BundleModel): string[] {
  return services
    .map(({ domain, algorithm, filterChain, ttlSeconds, answerCount, pool }) => {
      const members = pools[pool]!.members.map(
        ({ ipAddress, hostname, weight, priority, region, enabled }) =>
          `${ipAddress || hostname} w${weight} p${priority} ${region}${enabled ? '' : ' off'}`,
      )
      const how = filterChain.length > 0 ? filterChain.join() : algorithm
      return `${domain} ${how} ttl ${ttlSeconds} of ${answerCount}: ${members.join(', ')}`
    })
    .sort()
}

/** Returns the model without the names of its files. */
function modelsOf(rrsets: BundleModel['rrsets']): BundleModel['rrsets'] {
  return rrsets.map(({ name, zone, type, ttlSeconds, rdata }) => {
    return { name, zone, type, ttlSeconds, rdata }
  })
}

function recordsOf({ rrsets }: BundleModel): string[] {
  return rrsets
    .flatMap(({ name, type, rdata }) =>
      rdata.map((one) => `${name} ${rdataTypeOf(type).name} ${rdataTypeOf(type).print(one)}`),
    )
    .sort()
}

const notMapped = (out: string): string[] =>
  (out.split('not mapped; look at each:\n')[1] ?? '').split('\n').map((line) => line.trim())

test('zones of Route 53 are imported', async () => {
  const { target, out } = await imported('route53', 'route53.json')
  const model = compiled(target)
  expect(servicesOf(model)).toEqual([
    'c.example.com. weighted-round-robin ttl 60 of 1: a.example.net. w1 p0 unknown',
    'example.com. round-robin ttl 60 of 8: lb.eu-central-1.elb.amazonaws.com. w1 p0 unknown',
    'f.example.com. round-robin ttl 60 of 1: 192.0.2.20 w1 p0 unknown',
    'g.example.com. geo-ip ttl 60 of 1: 192.0.2.40 w1 p0 continent:EU, 192.0.2.41 w1 p0 US-CA, 192.0.2.42 w1 p0 continent:*',
    'l.example.com. geo-ip ttl 60 of 1: 192.0.2.30 w1 p0 DE, 192.0.2.31 w1 p0 DE, 192.0.2.32 w1 p0 SG',
    'm.example.com. round-robin ttl 60 of 2: 192.0.2.50 w1 p0 unknown, 192.0.2.51 w1 p0 unknown',
    'w.example.com. weighted-round-robin ttl 30 of 1: 192.0.2.10 w90 p0 unknown, 192.0.2.11 w10 p0 unknown, 2001:db8::10 w1 p0 unknown',
  ])
  expect(recordsOf(model)).toEqual([
    '*.example.com. A 192.0.2.1',
    'example.com. TXT "caf\\233 \\"x\\""',
    'w.example.com. MX 10 mail.example.com.',
  ])
  expect(notMapped(out).map((line) => line.split(':').slice(0, 4).join(':'))).toEqual([
    'F:8:5: bad.example.com. A 192.0.2.300',
    'F:23:5: p.example.com. A p',
    '',
  ])
  const pool = readFileSync(join(target, 'tenants/default/pools/w.example.com.yaml'), 'utf8')
  expect(pool).toContain('httpContains: fine')
})

test('zones of octoDNS are imported', async () => {
  const { target, out } = await imported('octodns', 'octodns/example.com.yaml')
  const model = compiled(target)
  expect(servicesOf(model)).toEqual([
    'cn.example.com. weighted-round-robin ttl 3600 of 1: a.example.net. w1 p0 unknown',
    'example.com. round-robin ttl 3600 of 8: lb.example.net. w1 p0 unknown',
    'f.example.com. failover ttl 3600 of 1: 192.0.2.20 w1 p1 unknown, 192.0.2.21 w1 p2 unknown',
    'g.example.com. geo-ip ttl 3600 of 1: 192.0.2.30 w1 p0 continent:EU, 192.0.2.31 w1 p0 US-CA, 192.0.2.32 w1 p0 continent:*',
    'many.example.com. geo-ip ttl 3600 of 1: 192.0.2.41 w1 p0 continent:*',
    'w.example.com. weighted-round-robin ttl 60 of 1: 192.0.2.10 w3 p0 unknown, 192.0.2.11 w1 p0 unknown off',
  ])
  expect(recordsOf(model)).toEqual([
    '_sip._tcp.example.com. SRV 10 60 5060 pbx.example.com.',
    'blog.example.com. CNAME www.example.com.',
    'example.com. CAA 0 issue "letsencrypt.org"',
    'example.com. MX 10 mail.example.com.',
    'example.com. TXT "v=spf1 mx -all"',
    'example.com. TXT "v=x1; k=\\"quoted\\""',
    'f.example.com. TXT "beside"',
    'host.example.com. SSHFP 4 1 6F0B3C3A1D6E4D2F9F9A3B8B1E7D6C5A4F3E2D1C',
    'mail.example.com. A 192.0.2.25',
    'pbx.example.com. AAAA 2001:db8::61',
    'secure.example.com. HTTPS 1 . alpn=h2,h3 no-default-alpn',
  ])
  expect(notMapped(out).map((line) => line.replace(/^\S+ /, ''))).toEqual([
    'odd.example.com. URLFWD: a type of octoDNS that is not known here',
    'many.example.com. A: a member has one region, and pool eu has EU, AS',
    '',
  ])
})

test('zones of Cloudflare are imported', async () => {
  const { target, out } = await imported('cloudflare', 'cloudflare.json', '--origin', 'example.com')
  const model = compiled(target)
  expect(servicesOf(model)).toEqual([
    'flat.example.com. round-robin ttl 60 of 8: lb.example.net. w1 p0 unknown',
    'rand.example.com. weighted-round-robin ttl 30 of 1: 192.0.2.10 w2 p0 unknown, lb.example.net. w2 p0 unknown, 192.0.2.11 w1 p0 unknown off',
    'www.example.com. weighted-round-robin ttl 20 of 1: 192.0.2.10 w1 p0 unknown, lb.example.net. w1 p0 unknown',
  ])
  expect(recordsOf(model)).toEqual([
    '_sip._tcp.example.com. SRV 10 60 5060 pbx.example.com.',
    'blog.example.com. CNAME shop.example.com.',
    'example.com. CAA 0 issue "letsencrypt.org"',
    'example.com. HTTPS 1 . alpn=h2',
    'example.com. MX 10 mail.example.com.',
    'example.com. TXT "v=spf1 mx -all"',
    'mail.example.com. A 192.0.2.25',
    'pbx.example.com. AAAA 2001:db8::61',
    'shop.example.com. A 192.0.2.5',
    't.example.com. TXT "one" "two"',
  ])
  expect(out).toContain('shop.example.com. A: its clients saw addresses of Cloudflare')
  expect(notMapped(out).map((line) => line.split(';')[0]!.replace(/^\S+ /, ''))).toEqual([
    'www.example.com: session affinity by cookie is of the proxy',
    'geo.example.com: steering by geo',
    'monitors.result[0].retries: 2',
    '',
  ])
  const pool = readFileSync(join(target, 'tenants/default/pools/www.example.com.yaml'), 'utf8')
  expect(pool).toContain('- 200-299\n      - 301\n')
})

describe('a file that is no export is refused at its place', () => {
  const rows: readonly [source: string, text: string | Uint8Array, fault: string][] = [
    ['route53', '{}', 'F:1:1: expected the list ResourceRecordSets'],
    ['route53', '{"ResourceRecordSets": [', 'F:1:'],
    ['route53', '', 'F:1:1: expected the list ResourceRecordSets'],
    [
      'route53',
      Buffer.from('"caf\u00e9"', 'latin1'),
      'F:1:1: this is no JSON or YAML: it is not UTF-8',
    ],
    ['route53', '['.repeat(100_000), 'F:1:'],
    ['route53', '{"ResourceRecordSets": [null, 1, {"Name": {}}]}', 'F:'],
    ['octodns', '[]', 'F:1:1: expected a name for each record'],
    ['octodns', 'a: [', 'F:1:'],
    ['cloudflare', '{"result": []}', 'F:1:1: the export does not say which zone it is'],
    ['cloudflare', '"x"', 'F:1:1: expected the result of /zones/ID/dns_records'],
  ]
  test.each(rows)('%s: %s', async (source, text, fault) => {
    const directory = tempDir('import')
    const file = join(directory, 'example.com.yaml')
    writeFileSync(file, text)
    const { exit, err } = await runCli('import', source, file, '-o', join(directory, 'out'))
    expect([exit, err.replaceAll(file, 'F').slice(0, fault.length)]).toEqual([
      Exit.ErrorsFound,
      fault,
    ])
    expect(existsSync(join(directory, 'out'))).toBe(false)
  })
})

test('the example is what its zone file gives, but for the three balanced names', async () => {
  const example = join(import.meta.dirname, '../../../examples/whole-zone')
  const target = join(tempDir('import'), 'config')
  const file = join(example, 'example.com.zone')
  expect((await runCli('import', 'zone', file, '-o', target)).exit).toBe(Exit.Ok)
  const [ours, theirs] = [compiled(example), compiled(target)]
  const balanced = new Set(ours.services.map(({ domain }) => domain))
  expect([...balanced].sort()).toEqual(
    ['api', 'static', 'www'].map((name) => `${name}.example.com.`),
  )
  const rest = theirs.rrsets.filter(({ name }) => !balanced.has(name))
  expect(modelsOf(ours.rrsets)).toEqual(modelsOf(rest))
  expect(ours.zones).toEqual(theirs.zones)
  // The addresses are the same ones, too.
  const taken = recordsOf({ ...theirs, rrsets: theirs.rrsets.filter((set) => !rest.includes(set)) })
  const members = ours.services.flatMap(({ domain, pool }) =>
    ours.pools[pool]!.members.map(({ ipAddress }) => {
      return `${domain} ${ipAddress.includes(':') ? 'AAAA' : 'A'} ${ipAddress}`
    }),
  )
  expect(members.sort()).toEqual(taken)
  const exported = await runCli('export', 'zone', 'example.com', '--config', example)
  cpSync(file, join(target, 'before.zone'))
  writeFileSync(join(target, 'exported.zone'), exported.out)
  const again = join(tempDir('import'), 'config')
  await runCli('import', 'zone', join(target, 'exported.zone'), '-o', again)
  expect(modelsOf(compiled(again).rrsets)).toEqual(modelsOf(theirs.rrsets))
})
