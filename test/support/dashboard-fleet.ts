// Prepares what the dashboard shows about other machines: nodes of a fleet, a BGP daemon, and
// earlier checks of delegated domains.
import { join } from 'node:path'
import { expect } from 'vitest'
import type { NodeReport } from '#fleet/nodes/node-report.ts'
import type { ShownDelivery } from '#ports/deliveries.ts'
import { openPglite } from '#state/sql/database/open-pglite.ts'
import type { DomainCheck, DomainResult } from '#state/ports/domains.ts'
import type { DashboardNode } from './dashboard-node.ts'
import { openNamedPipe } from './named-pipe.ts'
import { reportOf } from './node-reports.ts'

/** An ExaBGP that takes every command. */
export function announcement(home: string): object {
  const pipe = join(home, 'exabgp.in')
  openNamedPipe(pipe)
  const own = { interval: '500ms', rise: 1, drain: '100ms' }
  return { driver: 'exabgp', addresses: ['127.0.0.1'], exabgp: { pipe }, ...own }
}

const names = ['ns1.example.com.', 'ns2.example.com.']
const asked = { ns: names, ds: [], code: '', error: '' } as const
const parent = { ...asked, role: 'parent', server: 'a.nic.example.', address: '192.0.2.1' } as const
const first = { ...asked, role: 'nameserver', server: names[0]!, address: '192.0.2.53' } as const
const second = { ...first, server: names[1]!, address: '192.0.2.54' }
const why = 'ns2.example.com. (192.0.2.54) is not authoritative for lame.example.'
type Check = Omit<DomainCheck, 'atMs'>
const domains: readonly (readonly [string, string, readonly Check[]])[] = [
  ['shop.example.', '', [parent, first, second]],
  ['lame.example.', why, [parent, first, { ...second, ns: [], code: 'lame', error: why }]],
]
const uidOf = (i: number): string => `019a0000-0000-7000-8000-00000000000${i}`

/** By path: one domain is well, the other has a lame name server. */
export const domainFiles: readonly (readonly [string, string])[] = domains.map(([domain], i) => {
  const name = domain.slice(0, -1)
  const head = `apiVersion: gslb/v1\nkind: DelegatedDomain\nmetadata: { name: ${name}, uid: `
  const text = `${head}${uidOf(i)} }\nspec: { domain: ${name} }\n`
  return [`tenants/default/domains/${name}.yaml`, text]
})

/**
 * Stores results of their last checks before the node opens its database. The next checks are
 * claimed for another node, since this one would query servers outside of this machine.
 */
export async function fillDomains(dataDir: string): Promise<void> {
  const atMs = Date.now() - 120_000
  const database = await openPglite(join(dataDir, 'database'))
  try {
    for (const [i, [domain, error, checks]] of domains.entries()) {
      const result: DomainResult = {
        ...{ domain, error, nsOk: error === '', dsOk: true, dsExpected: false },
        ...{ checks: checks.map((check) => ({ ...check, atMs })), verifiedAtMs: atMs },
      }
      await database.query('insert into domain_checks values ($1, $2, $3, $4, $5)', [
        ...[uidOf(i), domain, atMs, JSON.stringify(result), Number.MAX_SAFE_INTEGER],
      ])
    }
  } finally {
    await database.close()
  }
}

const nodes = ['fra1', 'iad1', 'sin1', 'gru1'] as const

/**
 * Reports four pulling nodes, of which the first has the change under way.
 *
 * @param more what a node says besides, by its name
 */
export async function tellOfNodes(
  { call, origin, bearer }: DashboardNode,
  more: Readonly<Record<string, Partial<NodeReport>>> = {},
): Promise<void> {
  const shown = (await call<readonly ShownDelivery[]>('GET', '/deliveries')).body
  const { good, target } = shown.find(({ channel }) => channel === 'main')!
  for (const [i, name] of nodes.entries()) {
    const nowMs = Date.now()
    const times = { issuedAtMs: nowMs, startedAtMs: nowMs - 3_600_000, sentAtMs: nowMs }
    const { seq, digest } = i === 0 && target !== null ? target : good
    const labels: Record<string, string> = { site: name, ...(i === 0 ? { canary: 'true' } : {}) }
    const own = { ...times, seq, digest, labels, refusals: [], publisher: '', ...more[name] }
    const report = reportOf(name, own)
    const answer = await fetch(`${origin}/bundles/channels/main`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tag: null, report }),
    })
    expect([name, answer.status]).toEqual([name, 200])
  }
}
