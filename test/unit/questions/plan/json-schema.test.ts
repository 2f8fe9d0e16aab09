// The JSON of plans has the form that schemas/json/gslbd-plan.schema.json promises.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Exit } from '#system/process/command.ts'
import type { Plan } from '#judge/document/model.ts'
import { writeMmdb } from '#test/support/mmdb-writer.ts'
import { planFaults, planJsonSchema, planSchemaPath } from '#test/support/plan-schema.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import { expectCommitted } from '../../schemas/committed-file.ts'

test(`${planSchemaPath} is what the API promises (GSLBD_UPDATE=1 rewrites it)`, () => {
  expectCommitted(planSchemaPath, `${JSON.stringify(planJsonSchema(), undefined, 2)}\n`)
})

type Tree = Readonly<Record<string, string>>
const object = (kind: string, name: string, spec: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`
const members = (...rows: readonly string[]): string =>
  object('Pool', 'web', `{ healthCheck: { type: tcp }, members: [${rows.join(', ')}] }`)
const settings = (server: string): string =>
  object(
    'Settings',
    'settings',
    `{ zones: [{ name: example.com. }], defaults: { nameservers: [{ name: ${server} }] } }`,
  )
const records = (text: string): string =>
  object(
    'Records',
    'texts',
    `{ zone: example.com., records: [{ name: text, type: TXT, values: [${text}] }] }`,
  )
const own = 'tenants/default'
const german = '{ name: de, ipAddress: 192.0.2.1, port: 80, region: DE }'
const other = '{ name: us, ipAddress: 192.0.2.2, port: 80, region: US }'
const tree: Tree = {
  'gslb.yaml': settings('ns1.example.net.'),
  [`${own}/pools/web.yaml`]: members(german, other),
  [`${own}/records/texts.yaml`]: records('old'),
  [`${own}/services/www.yaml`]: object(
    'Service',
    'www',
    '{ domain: www.example.com., pool: web, filterChain: [geo-ip, round-robin] }',
  ),
}

/** A change in JSON. */
interface Row {
  readonly name: string
  readonly change: Tree
  readonly more?: (at: (name: string, content: string | Buffer) => string) => readonly string[]
  /** Lists of the plan that must not be empty, so that their form is checked. */
  readonly has: (plan: Plan) => unknown
}

const germans = writeMmdb({
  type: 'Test-Country',
  networks: [['10.0.0.0/8', { country: { iso_code: 'DE' } }]],
})
const operators = writeMmdb({
  type: 'Test-ASN',
  networks: [['10.0.0.0/8', { autonomous_system_number: 64_500 }]],
})
const movement = (plan: Plan) => plan.scenarios[0]?.changes.find((one) => one.movement)?.movement
const moved: Tree = { [`${own}/pools/web.yaml`]: members(german) }

const rows: readonly Row[] = [
  { name: 'nothing', change: {}, has: ({ summary }) => summary.names === 0 },
  {
    name: 'clients that move, and what is seen later',
    change: moved,
    has: (plan) => plan.later.length > 0 && movement(plan)?.ipv4.flows.length,
  },
  {
    name: 'countries and operators',
    change: moved,
    more: (at) => ['--geoip', at('country.mmdb', germans), '--asn', at('asn.mmdb', operators)],
    has: (plan) => movement(plan)?.ipv4.countries?.length && movement(plan)?.ipv4.operators?.length,
  },
  {
    name: 'traffic, of which a part is counted by country',
    change: moved,
    more: (at) => [
      ...['--geoip', at('country.mmdb', germans), '--traffic'],
      at(
        'traffic.json',
        JSON.stringify({
          ...{ seconds: 60, sampled: 100, countries: { DE: 5, '': 5 } },
          names: { 'www.example.com.': 9 },
        }),
      ),
    ],
    has: ({ weights, scenarios }) =>
      weights.by === 'traffic' && scenarios[0]?.traffic.unit === 'queries-per-second',
  },
  {
    name: 'two instants and two healths',
    change: moved,
    more: (at) => [
      ...['--at', '2026-01-31T12:00:00Z', '--at', '2026-02-01T12:00:00Z'],
      ...['--health', at('health.json', JSON.stringify({ 'web/192.0.2.1': false }))],
    ],
    has: ({ scenarios }) =>
      scenarios.length === 4 && scenarios.some(({ health }) => health === 'given'),
  },
  {
    name: 'records',
    change: { [`${own}/records/texts.yaml`]: records('new') },
    has: ({ scenarios }) => scenarios[0]?.changes[0]?.before.records.length,
  },
  {
    name: 'a name server',
    change: { 'gslb.yaml': settings('ns2.example.net.') },
    has: ({ scenarios }) => scenarios[0]?.changes.some(({ type }) => type === 'NS'),
  },
  {
    name: 'a service that goes, and one that comes',
    change: {
      [`${own}/services/www.yaml`]: object(
        'Service',
        'www',
        '{ domain: api.example.com., pool: web }',
      ),
    },
    has: ({ summary }) => summary.addedNames > 0 && summary.removedNames > 0,
  },
]

test.each(rows)('$name', async ({ change, more = () => [], has }) => {
  const dir = tempDir('plan-json')
  const at = (name: string, content: string | Buffer): string => {
    const path = join(dir, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    return path
  }
  for (const [path, text] of Object.entries(tree)) at(`base/${path}`, text)
  for (const [path, text] of Object.entries({ ...tree, ...change })) at(`head/${path}`, text)
  const args = ['--base', join(dir, 'base'), '--format', 'json', ...more(at)]
  const { exit, out, err } = await runCli('plan', join(dir, 'head'), ...args)
  expect([exit, err]).toEqual([Exit.Ok, ''])
  const plan = JSON.parse(out) as Plan
  expect(has(plan), out).toBeTruthy()
  expect(planFaults(plan)).toBe('')
})

test('a document of another form is a fault', () => {
  const plan = { format: 2, warnings: [7], more: true }
  for (const fault of ['format must be equal', 'warnings/0', 'additional properties', "'later'"])
    expect(planFaults(plan)).toContain(fault)
})
