// Reads and writes tenants as objects of the configuration.
import type { ConfigEntry } from '#config/entry.ts'
import type { ConfigView } from '#config/view.ts'
import type { Clock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { kindNames } from '#schemas/kinds.ts'
import { tenantIdPattern } from '#lib/text/patterns.ts'
import { defaultTenant, reservedTenants } from '#schemas/objects/tenant.ts'
import { commitActor, refusalOf } from './writes.ts'
import { refused } from '#http/reply.ts'
import type { Reply } from '#http/reply.ts'
import type { TenantRecord, Tenants, WriteOrigin } from '#access/tenants.ts'
import type { ConfigWriter, Operation } from '#config/operation.ts'

/** The tenant `default`, which exists without a file. */
const undeclared: TenantRecord = {
  id: defaultTenant,
  name: defaultTenant,
  rpsLimit: 1_000,
  createdAt: 0,
}

export function createConfigTenants(
  config: ConfigView,
  writer: ConfigWriter,
  clock: Clock,
): Tenants {
  const declared = (): readonly ConfigEntry<'Tenant'>[] => config.snapshot().list('Tenant')
  const find = (id: string): TenantRecord | undefined => {
    const entry = config.snapshot().find('Tenant', id, id)
    if (entry !== undefined) return recordOf(entry)
    return id === defaultTenant ? undeclared : undefined
  }
  const list = (): TenantRecord[] => {
    const others = declared().filter(({ name }) => name !== defaultTenant)
    return [find(defaultTenant) ?? undeclared, ...others.map(recordOf)]
  }
  const write = async (
    { caller, requestId, isDryRun, subject }: WriteOrigin,
    operation: Operation,
  ): Promise<Result<null, Reply>> => {
    const done = await writer.write({
      requestId,
      actor: commitActor(caller),
      ...(isDryRun ? { isDryRun } : {}),
      ...(subject === undefined ? {} : { subject }),
      operations: [operation],
    })
    return done.ok ? ok(null) : err(refusalOf(done.error, caller, requestId))
  }
  return {
    list,
    find,
    idFor: (name) => freeId(name, new Set(list().map(({ id }) => id))),
    objectCount: (id) => {
      const objects = kindNames.flatMap((kind) => config.snapshot().list(kind))
      return objects.filter(({ kind, tenant }) => tenant === id && kind !== 'Tenant').length
    },
    create: async ({ id, name, rpsLimit }, origin) => {
      if (list().some((other) => other.name === name || other.id === name)) {
        return err(refused(409, 'name: is in use'))
      }
      const createdAt = Math.floor(clock.nowMs() / 1_000)
      const displayName = id === name ? {} : { displayName: name }
      const spec = { ...displayName, rpsLimit, createdAt }
      const target = { kind: 'Tenant', tenant: id, name: id } as const
      const done = await write(origin, { verb: 'create', ...target, spec })
      return done.ok ? ok({ id, name, rpsLimit, createdAt }) : done
    },
    remove: (id, origin) =>
      write(origin, { verb: 'delete', kind: 'Tenant', target: { tenant: id, name: id } }),
  }
}

function recordOf({ name, object: { spec } }: ConfigEntry<'Tenant'>): TenantRecord {
  const { displayName = name, rpsLimit, createdAt = 0 } = spec
  return { id: name, name: displayName, rpsLimit, createdAt }
}

/** A free id made of the name, with only characters that a folder may have. */
function freeId(name: string, taken: ReadonlySet<string>): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  const base =
    words
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 50)
      .replace(/-+$/, '') || 'tenant'
  const isFree = (id: string): boolean =>
    tenantIdPattern.test(id) && !taken.has(id) && !reservedTenants.includes(id)
  for (let id = base, i = 2; ; id = `${base}-${i}`, i++) if (isFree(id)) return id
}
