// The API over a repository, a database and memory, with an account for each role.
import { Identities } from '#access/auth/identities.ts'
import { systemKey, tokenHash } from '#access/auth/policy.ts'
import { builtInRoles } from '#access/permissions.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { explanationOf } from '#node/api/explanations.ts'
import { systemClock } from '#lib/clock.ts'
import { createMemoryLoginAttempts } from '#state/memory/login-attempts.ts'
import { MemorySessions } from '#state/memory/sessions.ts'
import { err, ok } from '#lib/result.ts'
import type { PersistentState } from '#state/persistent.ts'
import { withKeys } from './api-world.ts'
import { keyOf, recordsSettings, rootKey, startConfigWorld } from './config-world.ts'
import type { ConfigWorld } from './config-world.ts'
import { startingStatus } from './gitops-status.ts'
import { keeperScene } from './licences.ts'
import { persistentAdapters } from './persistent-adapters.ts'
import { newUser, valueOf } from './store-values.ts'

export interface WholeWorld {
  readonly state: PersistentState
  readonly world: ConfigWorld
  /**
   * The credential of `nobody`, `junk`, `root`, `acme key`, or a tenant and a role; an ended
   * session is made again.
   */
  readonly bearerOf: (actor: string) => Promise<string>
  readonly stop: () => Promise<void>
}

const simulated = {
  ...{ name: 'www.example.com.', type: 'A', at: '', seed: 1, node: '', commit: '', digest: '' },
  ...{ rcode: 'REFUSED', rule: null, zone: null, match: 'none', owner: null, absent: null },
  records: [],
  ...{ scope: null, signing: null, service: null, overlays: [] },
}

const explained = {
  ...{ name: 'www.example.com.', type: 'A', at: '', node: '', commit: null, digest: '' },
  ...{ since: null, bundleFrom: 'the data directory', isCertain: true, shares: [] },
  ...{
    mayAnswer: [],
    measured: null,
    texts: [],
    notes: [],
    rcode: 'REFUSED',
    rule: null,
    zone: null,
    match: 'none',
    absent: null,
  },
  ...{ owner: null, records: [], scope: null, signing: null, service: null, text: '' },
}

const unchecked = {
  ...{ nsOk: true, dsOk: false, dsExpected: false, error: '', checks: [], verifiedAtMs: 1_000 },
}

const people = [
  { tenant: 'acme', role: 'none' },
  { tenant: 'acme', role: 'viewer' },
  { tenant: 'acme', role: 'operator' },
  { tenant: 'acme', role: 'tenant_admin' },
  { tenant: 'zenith', role: 'tenant_admin' },
  { tenant: 'default', role: 'tenant_admin' },
] as const

/** @param brought ports that replace its own */
export async function startWholeWorld(brought: Partial<ServerPorts> = {}): Promise<WholeWorld> {
  const [, adapter] = persistentAdapters[0]!
  const running = await adapter()
  await fill(running.state)
  const { users, roles, tenantKeys, dynamicDns, alerts, domains, audit } = running.state
  const world = await startConfigWorld({
    settings: recordsSettings,
    ports: {
      users,
      roles,
      tenantKeys,
      dynamicDns,
      auditCopy: audit,
      alerts,
      domains: { ...domains, verify: async ({ domain }) => ok({ ...unchecked, domain }) },
      past: {
        why: async () => ok(explained),
        health: async () => ok({ fromMs: 0, toMs: 1, nodes: [] }),
      },
      simulator: {
        ...{ simulate: async () => ok(simulated), explain: explanationOf },
        clientOf: (country) => (country === 'DE' ? ok('192.0.2.0/24') : err('none')),
      },
      licenceAdmin: keeperScene().keeper,
      identities: new Identities({ users, roles, tenantKeys, clock: systemClock }),
      sessions: new MemorySessions(systemClock),
      loginAttempts: createMemoryLoginAttempts(systemClock),
      auth: { ...withKeys, systemKey: systemKey(rootKey) },
      view: {
        health: () => ({ status: 'ok', reasons: [] }),
        unready: () => [],
        gitops: () => startingStatus,
        metrics: async () => ({ type: 'text/plain', text: '' }),
      },
      ...brought,
    },
  })
  return {
    state: running.state,
    world,
    bearerOf: (actor) => bearerOf(world, actor),
    stop: async () => {
      await world.close()
      await running.state.close()
      await running.stop()
    },
  }
}

async function fill({ users, roles, tenantKeys }: PersistentState): Promise<void> {
  const system = Object.entries(builtInRoles).map(([name, permissions]) => ({ name, permissions }))
  await valueOf(roles.ensureSystem(system, 1))
  const none = { id: 'none', name: 'none', permissions: [], tenantId: 'acme', createdAtMs: 1 }
  await valueOf(roles.create(none))
  for (const tenant of ['acme', 'zenith']) {
    await valueOf(tenantKeys.put(tenant, tokenHash(keyOf(tenant)), 1))
  }
  for (const { tenant, role } of people) {
    const id = `${tenant}-${role}`
    const email = `${id}@example.com`
    await valueOf(users.create(newUser(id, { tenantId: tenant, role, email })))
  }
}

async function bearerOf({ ports }: ConfigWorld, actor: string): Promise<string> {
  if (actor === 'nobody') return ''
  if (actor === 'junk') return 'j'.repeat(43)
  if (actor === 'root') return rootKey
  if (actor === 'acme key') return keyOf('acme')
  const [tenant = '', role = ''] = actor.split(' ')
  const token = tokenHash(actor).slice(0, 43)
  const identity = { userId: `${tenant}-${role}`, tenantId: tenant, role, createdAtMs: 1 }
  await valueOf(ports.sessions.create(tokenHash(token), identity, 3_600_000))
  return token
}
