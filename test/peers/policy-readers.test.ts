// An exported policy zone: the resolvers of others decide by it as a node does.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportRpz } from '#zones/export/rpz-export.ts'
import { Rcode } from '#dns/rcode.ts'
import { RrType } from '#dns/rrtype.ts'
import { zoneLines } from '#dns/zone-file/zone-writer.ts'
import { bareModel, newSigningKey, pool, service, zone } from '#test/support/bundle-models.ts'
import { ask } from '#test/support/dns/client.ts'
import { buildNode, publish } from '#test/support/node-under-test.ts'
import { policyReaders, startReader } from '#test/support/policy-readers.ts'
import type { StartedReader } from '#test/support/policy-readers.ts'
import { naiveMatch, rule } from '#test/support/response-rules.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const alias = (target: string) => ({ action: 'cname' as const, target })
const passes = { action: 'passthru' } as const
const rules = [
  rule(1, 'domain', 'bad.example.'),
  rule(2, 'exact', 'x.ok.bad.example.', passes),
  rule(3, 'domain', 'free.bad.example.', passes),
  rule(4, 'exact', 'deny.free.bad.example.'),
  rule(5, 'domain', 'walled.example.', alias('wall.test.example.')),
  rule(6, 'exact', 'a.b.walled.example.'),
  rule(7, 'exact', 'alone.example.'),
  rule(8, 'exact', 'deep.under.alone.example.', passes),
  rule(9, 'domain', 'deep.er.bad.example.', alias('wall.test.example.')),
  rule(10, 'exact', 'er.bad.example.', passes),
  rule(11, 'domain', 'whole.example.', passes),
  rule(12, 'domain', 'sub.whole.example.'),
  rule(13, 'exact', 'probe.example.'),
]
const model = {
  ...bareModel,
  zones: [zone('example.')],
  pools: [pool(1, ['192.0.2.1'])],
  services: [service(1, '*.example.'), service(2, 'lead.example.')],
}
const withoutAliases = rules.filter(({ action }) => action !== 'cname')
/** Each trigger, what is around it, below it, and beside it. */
const questions = [
  ...new Set(
    rules.flatMap(({ trigger }) => {
      const above = trigger.slice(trigger.indexOf('.') + 1)
      const names = [trigger, `y.${trigger}`, `z.y.${trigger}`, `beside.${above}`]
      return above === 'example.' ? names : [...names, above]
    }),
  ),
]

type Told = 'denied' | 'passed' | `alias ${string}`

async function told(port: number, name: string): Promise<Told> {
  const { rcode, answer } = await ask({ host: '127.0.0.1', port }, `${name} A`, { rd: true })
  if (answer[0]?.type === RrType.CNAME) return `alias ${answer[0].rdataText}`
  // What passes a rule is SERVFAIL in Knot Resolver here: it finds no root.
  return rcode === Rcode.NXDomain ? 'denied' : 'passed'
}

function wanted(name: string, among = rules): Told {
  const found = naiveMatch(among, name)
  if (found?.action === 'nxdomain') return 'denied'
  return found?.action === 'cname' ? `alias ${found.target}` : 'passed'
}

const key = newSigningKey()
const nodes = [model, { ...model, responseRules: rules }].map((one) => {
  return { ...buildNode({ trusted: key }), one }
})
const ports: number[] = []
beforeAll(async () => {
  for (const { node, one } of nodes) {
    const started = await node.start()
    expect(started.ok).toBe(true)
    await node.activate(publish(key, one, { seq: 1 }))
    ports.push(started.ok ? started.value.port : 0)
  }
})
afterAll(async () => {
  for (const { node } of nodes) await node.stop()
})

test('there are questions on which a plain export would differ', () => {
  expect(questions.length).toBeGreaterThan(40)
  expect(new Set(questions.map((name) => wanted(name))).size).toBe(3)
})

test.each(questions)('a node decides on %s as the rules say', async (name) => {
  expect(await told(ports[1]!, name)).toBe(wanted(name))
})

describe.each(policyReaders)('$name', (reader) => {
  let started: StartedReader
  beforeAll(async () => {
    const { records, remarks } = exportRpz(rules, 'rpz.test.', 1)
    expect(remarks).toEqual([])
    const lines = [...zoneLines(records, { origin: wireName('rpz.test.'), names: 'relative' })]
    started = await startReader(reader, lines.join(''), ports[0]!)
  })
  afterAll(() => started.end())

  test.each(questions)('decides on %s as the node does', async (name) => {
    const expected = wanted(name, reader.takesAliases ? rules : withoutAliases)
    expect(await told(started.port, name)).toBe(expected)
  })
})
