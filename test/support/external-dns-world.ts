// The listener for external-dns over a real repository, with zones that are given to tenants.
import type { FastifyInstance } from 'fastify'
import { createExternalDnsApp } from '#external-dns/app.ts'
import type { HealthCheckPolicy } from '#compiler/values/health-check-policy.ts'
import { everythingLicensed } from './everything-licensed.ts'
import { ok } from '#lib/result.ts'
import type { Log } from '#lib/log.ts'
import type { DomainResult } from '#state/ports/domains.ts'
import type { ServerPorts } from '#api/server/app.ts'
import { startConfigWorld } from './config-world.ts'
import type { ConfigWorld } from './config-world.ts'
import { ExternalDnsModel } from './external-dns.ts'
import type { ModelOptions } from './external-dns.ts'

export const acmeZone = 'acme.example.'
const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  # Tests take away what they have made.
  guardrails:
    removedNames: 100
    changedNames: 100
    removedMembers: 100
    lostRedundancy: 100
    lostAnswers: 100
  defaults: { nameservers: [{ name: ns1.example.net. }] }
  zones:
    - { name: ${acmeZone}, tenants: [acme] }
    - { name: zenith.${acmeZone}, tenants: [zenith] }
    - { name: customers.example., tenants: [default], delegated: true }
`

interface Refused {
  readonly status: number
  readonly reason: string
}

export interface ExternalDnsWorld {
  readonly world: ConfigWorld
  /** Requests without a credential write for `acme`. */
  readonly app: FastifyInstance
  /** Each request needs a credential. */
  readonly remote: FastifyInstance
  /** What the log says of refusals. */
  readonly refused: Refused[]
  /** Uids of domains that the last check found delegated. */
  readonly verified: Set<string>
  readonly model: (options: ModelOptions) => ExternalDnsModel
  /** Files at the head, by path below the folder of the tenant acme. */
  readonly files: () => Readonly<Record<string, string>>
  readonly head: () => string
  readonly close: () => Promise<void>
}

export async function startExternalDnsWorld(
  brought: Partial<ServerPorts> = {},
  checkPolicy?: HealthCheckPolicy,
): Promise<ExternalDnsWorld> {
  const refused: Refused[] = []
  const verified = new Set<string>()
  const log: Log = {
    info: () => undefined,
    warn: (fields) => refused.push(fields as Refused),
    error: (fields) => refused.push(fields as Refused),
  }
  const resultOf = (uid: string, domain: string): DomainResult => ({
    ...{ domain, nsOk: verified.has(uid), dsOk: false, dsExpected: false },
    ...{ error: '', checks: [], verifiedAtMs: 1 },
  })
  const world = await startConfigWorld({
    settings,
    ...(checkPolicy === undefined ? {} : { checkPolicy }),
    ports: {
      licence: everythingLicensed,
      log,
      domains: {
        results: async (uids) => {
          const known = world.ports.config.snapshot().list('DelegatedDomain')
          return ok(
            new Map(
              known
                .filter(({ uid }) => uids.includes(uid))
                .map(({ uid, object }) => [
                  uid,
                  resultOf(uid, `${object.spec.domain.replace(/\.$/, '')}.`),
                ]),
            ),
          )
        },
        forget: async () => ok(undefined),
        verify: async ({ uid, domain }) => ok(resultOf(uid, domain)),
      },
      ...brought,
    },
  })
  const app = createExternalDnsApp(world.ports, 'acme')
  const remote = createExternalDnsApp(world.ports, undefined)
  const head = (): string => world.git('rev-parse', 'main')
  return {
    ...{ world, app, remote, refused, verified, head },
    model: (options) => new ExternalDnsModel(app, options),
    files: () => {
      const names = world.git('ls-tree', '-r', '--name-only', 'main', 'tenants/acme').split('\n')
      const own = names.filter((name) => name !== '' && !name.endsWith('tenant.yaml'))
      return Object.fromEntries(
        own.map((name) => [name.replace('tenants/acme/', ''), world.git('show', `main:${name}`)]),
      )
    },
    close: async () => {
      await app.close()
      await remote.close()
      await world.close()
    },
  }
}
