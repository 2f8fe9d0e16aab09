// Tests gslbd simulate with delegated names and aliases.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const config = join(import.meta.dirname, '../../../../examples/whole-zone')
const eu = [
  'cut       eu.example.com. is delegated to other servers',
  'answer    NOERROR, a referral to the servers of eu.example.com.',
  '          eu.example.com. 3600 IN NS ns1.example.org.',
  '          eu.example.com. 3600 IN NS ns2.example.org.',
]

test.each<[string, string, readonly string[]]>([
  ['at a cut', 'eu', ['name      is answered by the servers of the cut', ...eu]],
  ['below a cut', 'a.b.eu', ['name      is answered by the servers of the cut', ...eu]],
  [
    'at glue',
    'ns1.lab',
    [
      'answer    NOERROR, a referral to the servers of lab.example.com.',
      '          ns1.lab.example.com. 3600 IN A 203.0.113.53',
    ],
  ],
  [
    'of an alias to a service',
    'blog',
    [
      'alias     blog.example.com. 3600 IN CNAME www.example.com.',
      'service   www of tenant default, round-robin, TTL 300',
    ],
  ],
  [
    'of an alias to elsewhere',
    'status',
    ['alias     status.example.com. 300 IN CNAME example.statuspage.example.'],
  ],
])('%s it says so', async (_where, label, lines) => {
  const { out } = await runCli('simulate', `${label}.example.com`, '--config', config)
  expect(out.split('\n')).toEqual(expect.arrayContaining([...lines]))
})

test('DS records at a cut are our own', async () => {
  const { out } = await runCli(
    ...['simulate', 'lab.example.com', '--type', 'DS', '--config', config],
  )
  expect(out).toContain('lab.example.com. 3600 IN DS 28431 13 2 ')
  expect(out).not.toContain('referral')
})

test.each(['mail', 'app'])(
  'at %s in a zone that never came it says SERVFAIL, and why',
  async (label) => {
    const config = tempDir('absent')
    const head = 'apiVersion: gslb/v1\n'
    const zone =
      '{ name: away.example., nameservers: [{ name: ns1.example.net. }], ' +
      'from: { primaries: [192.0.2.53] } }'
    writeFileSync(
      join(config, 'gslb.yaml'),
      `${head}kind: Settings\nmetadata: { name: settings }\nspec: { zones: [${zone}] }\n`,
    )
    mkdirSync(join(config, 'tenants/default/records'), { recursive: true })
    writeFileSync(
      join(config, 'tenants/default/records/own.yaml'),
      `${head}kind: Records\nmetadata: { name: own }\nspec:\n  zone: away.example.\n  records:\n` +
        '    - { name: app, type: CNAME, values: [mail] }\n',
    )
    const { out } = await runCli('simulate', `${label}.away.example`, '--config', config)
    expect(out).toContain('may exist: the records of away.example. are not here\n')
    expect(out).toContain(
      'answer    SERVFAIL: no zone transfer of away.example. has come yet, or what came has expired\n',
    )
  },
)
