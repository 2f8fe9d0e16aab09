// Tests which delegation a node checks for a domain.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createNodeDomains } from '#node/compose/domains.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { DomainResult, Domains } from '#state/ports/domains.ts'
import { silentLog } from '#test/support/api-ports.ts'
import { DelegationWorld, childOf, parentOf } from '#test/support/dns/delegation-world.ts'
import type { Handler } from '#test/support/dns/delegation-world.ts'
import type { Message } from '#test/support/dns/message.ts'
import { entryOf, viewOf } from '#test/support/config-view.ts'

const child = '127.0.0.3'
const shared = 'customers.test.'
const plain = 'plain.test.'
const servers = (zone: string): { name: string; addresses: string[] }[] => [
  { name: `ns1.${zone}`, addresses: [child] },
]
const settings = entryOf('Settings', 'gslb.yaml', 'settings', {
  zones: [
    { name: shared, nameservers: servers(shared), delegated: true },
    { name: plain, nameservers: servers(plain) },
  ],
})
let world: DelegationWorld
beforeAll(async () => {
  world = await DelegationWorld.make()
  const cut = (zone: string) => ({ ns: [`ns1.${zone}`], glue: [`ns1.${zone} A ${child}`] })
  await world.serve('127.0.0.2', parentOf({ [shared]: cut(shared), [plain]: cut(plain) }))
  await world.serve(child, childOf(shared, `ns1.${shared}`))
})
afterAll(() => world.close())

const stored = new Map<string, DomainResult>()
const store = {
  claim: async () => ok([]),
  put: async (uid: string, result: DomainResult) => ok(void stored.set(uid, result)),
  results: async () => ok(stored),
  forget: async () => ok(undefined),
} as unknown as Domains

test.each([
  ['the zone itself', shared, true],
  ['a domain in a zone that gives rights by domains', `shop.${shared}`, true],
  ['a name deep in it', `a.b.${shared}`, true],
  ['a domain in another zone: its own, which nobody has made', `shop.${plain}`, false],
])('%s', async (_, domain, nsOk) => {
  const domains = domainsWith(() => undefined)
  const found = await domains.verify({ uid: domain, domain, tenant: 'default' })
  expect(found).toMatchObject({ ok: true, value: { domain, nsOk } })
})

test.each([
  ['is not signed', undefined, false],
  ['is signed by a key that is here', ['1 13 2 ab'], true],
  ['is signed by a key that is on other nodes', [], true],
])('the result for a zone that %s', async (_, ds, dsExpected) => {
  const domains = domainsWith((zone) => (zone === shared ? ds : undefined))
  const found = await domains.verify({ uid: shared, domain: shared, tenant: 'default' })
  expect(found).toMatchObject({ ok: true, value: { dsExpected } })
})

const digest = `0001 0d 02 ${'ab'.repeat(32)}`
const ds = `1 13 2 ${'AB'.repeat(32)}`
const cut = { ns: [`ns1.${shared}`], glue: [`ns1.${shared} A ${child}`] }
const hasIt = parentOf({ [shared]: { ...cut, ds: digest } })
const hasNone = parentOf({ [shared]: cut })
const failed = { rcode: 2 }
const whole = { onAll: [ds], onAny: [ds] }
const rows: readonly [string, Handler, Handler, object | null, readonly string[] | null][] = [
  ['has the same DS', hasIt, hasIt, whole, [ds]],
  ['has none', hasIt, hasNone, { onAll: [], onAny: [ds] }, [ds]],
  ['does not answer', hasIt, () => failed, null, [ds]],
  ['does not answer for DS', hasIt, (q, isTcp) => (isDs(q) ? failed : hasIt(q, isTcp)), null, [ds]],
  ['does not answer, as the first one', () => failed, () => failed, null, null],
]
test.each(rows)(
  'the view of the parent, where its second server %s',
  async (_, first, handler, view, onAny) => {
    await world.serve('127.0.0.2', first)
    await world.serve('127.0.0.5', handler)
    const hints = ['127.0.0.2', '127.0.0.5'].map((at) => ({ name: `${at}.root.`, addresses: [at] }))
    const domains = domainsWith(() => [ds], hints)
    expect([await domains.parentOf(shared), await domains.dsAtParent(shared)]).toEqual([
      view,
      onAny,
    ])
  },
)
const isDs = ({ questions: [question] }: Message): boolean => question!.type === 43

function domainsWith(
  dsOf: (zone: string) => readonly string[] | undefined,
  hints = [{ name: 'a.root.', addresses: ['127.0.0.2'] }],
) {
  return createNodeDomains({
    settings: {
      dns: { resolvers: [], allowLocalTargets: true },
      domains: { verifyIntervalMs: 600_000, allowPrivate: false },
    },
    store,
    config: viewOf(settings),
    dsOf,
    ...{ rolled: () => [], onParents: () => undefined, parentsBefore: new Map() },
    clock: systemClock,
    log: silentLog,
    hints,
    port: world.port,
  })
}
