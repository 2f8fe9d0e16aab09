// Ports for tests of the API: what a test does not bring fails loudly when it is asked.
import { Identities } from '#api/auth/identities.ts'
import { Passwords } from '#api/auth/passwords.ts'
import type { AuthPolicy } from '#api/auth/policy.ts'
import { everythingLicensed } from '#api/licence-gate.ts'
import { unprobed } from '#api/member-health.ts'
import type { OperatorView } from '#api/operator-view.ts'
import type { ApiPorts } from '#api/ports.ts'
import { strictPolicy } from '#compiler/health-check-policy.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ok } from '#lib/result.ts'
import { createMemoryHealthSignals } from '#state/memory/health-signals.ts'

/** Dev mode, with the defaults of document A. */
export const devMode: AuthPolicy = {
  systemKey: null,
  secretKey: null,
  sessionTtlMs: 24 * 3_600_000,
  sessionExtend: true,
  bcryptCost: 10,
  setupEndpoint: true,
  oidcEnabled: false,
}

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }

const plainView: OperatorView = {
  health: () => ({ status: 'ok' }),
  gitops: () => notBrought<OperatorView>('view').gitops(),
  metrics: async () => 'gslbd_up 1\n',
}

export function portsOf(brought: Partial<ApiPorts>): ApiPorts {
  const stores = {
    users: brought.users ?? notBrought('users'),
    roles: brought.roles ?? notBrought('roles'),
    tenantKeys: brought.tenantKeys ?? notBrought('tenantKeys'),
    clock: brought.clock ?? systemClock,
  }
  return {
    view: plainView,
    config: notBrought('config'),
    configWriter: notBrought('configWriter'),
    auth: devMode,
    identities: new Identities(stores),
    sessions: notBrought('sessions'),
    loginAttempts: notBrought('loginAttempts'),
    tenants: notBrought('tenants'),
    audit: { write: () => {} },
    passwords: new Passwords(4),
    licence: everythingLicensed,
    checkPolicy: strictPolicy,
    memberHealth: { node: 'test', of: () => unprobed('test'), onChange: () => () => undefined },
    healthSignals: createMemoryHealthSignals(stores.clock),
    overlays: { rollout: () => undefined },
    usage: { add: async () => ok(undefined), range: async () => ok([]) },
    node: { uptimeSeconds: () => 1.5, webSocketClients: () => 0 },
    log: silentLog,
    ...stores,
    ...brought,
  }
}

function notBrought<Port extends object>(name: string): Port {
  return new Proxy<Port>({} as Port, {
    get: (_port, method) => () => {
      throw new Error(`this test brings no ${name}, but ${String(method)} was called`)
    },
  })
}
