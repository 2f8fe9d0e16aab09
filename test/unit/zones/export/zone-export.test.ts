// gslbd export zone, as a script calls it: from files and from a bundle.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Exit } from '#system/process/command.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const top = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`
const files = {
  'gslb.yaml':
    `${top('Settings', 'settings')}spec:\n  zones:\n` +
    '    - name: example.com.\n      nsTtl: 86400\n' +
    '      nameservers: [{ name: ns1.example.com., addresses: [192.0.2.53] }]\n' +
    '    - name: eu.example.com.\n' +
    '      nameservers: [{ name: ns1.eu.example.com., addresses: [192.0.2.54] }]\n',
  'tenants/default/records/zone.yaml':
    `${top('Records', 'zone')}spec:\n  zone: example.com.\n  records:\n` +
    '    - { name: eu, type: DS, values: [1 13 1 2BB183AF5F22588179A53B0A98631FAD1A292118] }\n' +
    '    - { name: "@", type: MX, values: [10 mail.example.net.] }\n',
  'tenants/default/pools/near.yaml':
    `${top('Pool', 'near')}spec:\n  members:\n    - { ipAddress: 192.0.2.1, port: 443 }\n` +
    '    - { hostname: lb.example.net., port: 443 }\n    - { from: k8s/web, port: 443 }\n',
  'tenants/default/pools/cdn.yaml':
    `${top('Pool', 'cdn')}spec:\n  answer: cname\n` +
    '  members: [{ hostname: cdn.example.net., port: 443 }]\n',
  'tenants/default/services/www.yaml':
    `${top('Service', 'www')}spec:\n` + '  { domain: www.example.com., pool: near, ttl: 30 }\n',
  'tenants/default/services/img.yaml':
    `${top('Service', 'img')}spec:\n` +
    '  { domain: img.example.com., pool: cdn, ttl: 30, filterChain: [sticky] }\n',
}

test('a zone is the same from files and from a bundle, with what its members are', async () => {
  const directory = tempDir('export')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const bundle = join(directory, 'bundle')
  expect((await runCli('compile', directory, '-o', bundle)).exit).toBe(Exit.Ok)
  const fromFiles = await runCli('export', 'zone', 'example.com', '--config', directory)
  const fromBundle = await runCli('export', 'zone', 'example.com', '--bundle', bundle)
  expect(fromBundle).toEqual({ ...fromFiles, exit: Exit.Ok, err: '' })
  const lines = fromBundle.out.trimEnd().replaceAll('\t', ' ').split('\n')
  expect(lines).toEqual([
    '; img.example.com. is balanced (sticky) among one member; here are all that are enabled',
    '; www.example.com. is balanced (round-robin) among 3 members; here are all that are ' +
      'enabled, without the host name lb.example.net. and what from:k8s/web finds',
    '$ORIGIN example.com.',
    '@ 120 IN SOA ns1.example.com. hostmaster.example.com. 1 14400 3600 604800 30',
    '@ 86400 IN NS ns1.example.com.',
    expect.stringMatching(/^@ \d+ IN MX 10 mail\.example\.net\.$/),
    'eu 120 IN NS ns1.eu.example.com.',
    expect.stringMatching(/^eu \d+ IN DS 1 13 1 2BB1/i),
    'ns1.eu 120 IN A 192.0.2.54',
    'img 30 IN CNAME cdn.example.net.',
    'ns1 86400 IN A 192.0.2.53',
    'www 30 IN A 192.0.2.1',
  ])
})

test('a bundle that is none, and one beside files', async () => {
  const path = join(tempDir('export'), 'bundle')
  writeFileSync(path, 'no bundle')
  const damaged = await runCli('export', 'zone', 'example.com', '--bundle', path)
  expect(damaged.exit).toBe(Exit.ErrorsFound)
  expect(damaged.err).toMatch(/^gslbd export: .*bundle: /)
  const both = await runCli('export', 'zone', 'a.example', '--bundle', path, '--config', '.')
  expect([both.exit, both.err]).toEqual([Exit.Usage, expect.stringContaining('not both')])
})

test('a zone from elsewhere whose records are not here is not exported', async () => {
  const directory = tempDir('export')
  writeFileSync(
    join(directory, 'gslb.yaml'),
    `${top('Settings', 'settings')}spec:\n  zones:\n    - name: example.com.\n` +
      '      nameservers: [{ name: ns1.example.net. }]\n      from: { primaries: [192.0.2.53] }\n',
  )
  const done = await runCli('export', 'zone', 'example.com', '--config', directory)
  expect([done.exit, done.out]).toEqual([Exit.ErrorsFound, ''])
  expect(done.err).toContain('the records of example.com. are not here')
})
