// The table of kinds of a configuration repository: the schema, place and names of each.
import { Type } from '#lib/schema/type.ts'
import type { Static, TSchema } from '#lib/schema/type.ts'
import { DelegatedDomainSpec } from './objects/delegated-domain.ts'
import { DeliverySpec } from './objects/delivery.ts'
import { MaintenanceWindowSpec } from './objects/maintenance-window.ts'
import { Metadata, apiVersion } from './objects/metadata.ts'
import { TestSpec } from './objects/policy-test.ts'
import { PoolSpec } from './objects/pool.ts'
import { RecordsSpec } from './objects/records.ts'
import { RedirectSpec } from './objects/redirect.ts'
import { ResponsePolicySpec } from './objects/response-policy.ts'
import { RolloutSpec } from './objects/rollout.ts'
import { ServiceSpec } from './objects/service.ts'
import { SettingsSpec } from './objects/settings.ts'
import { TenantSpec } from './objects/tenant.ts'

/** What the program knows of a kind of object besides its schema. */
interface KindRow {
  readonly schema: TSchema
  /** Path pattern of its files, as shown to people: per tenant, or else global. */
  readonly path: string
  /** Path pattern of tenant-owned files, where the kind also has global ones at `path`. */
  readonly tenantPath?: string
  /**
   * Scope in which names are unique. `alone`: the repository has one object; `everywhere`: across
   * all tenants.
   */
  readonly names: 'alone' | 'everywhere' | 'within-tenant'
  /** The licence feature that each object needs. Pools and services depend on their content. */
  readonly feature?: 'extra-tenants' | 'redirects' | 'response-policy' | 'rollouts'
  /** The field with the DNS name that an object takes, which may belong to another tenant. */
  readonly takesName?: 'domain' | 'name' | 'sourceFqdn'
}

/** Adding a kind takes a file in `objects/` and a row here. */
const table = {
  Settings: {
    schema: objectOf('Settings', SettingsSpec),
    path: 'gslb.yaml',
    names: 'alone',
  },
  Tenant: {
    schema: objectOf('Tenant', TenantSpec),
    path: 'tenants/<tenant>/tenant.yaml',
    names: 'alone',
    feature: 'extra-tenants',
  },
  Pool: {
    schema: objectOf('Pool', PoolSpec),
    path: 'tenants/<tenant>/pools/<name>.yaml',
    names: 'everywhere',
  },
  Service: {
    schema: objectOf('Service', ServiceSpec),
    path: 'tenants/<tenant>/services/<name>.yaml',
    names: 'everywhere',
    takesName: 'domain',
  },
  Records: {
    schema: objectOf('Records', RecordsSpec),
    path: 'tenants/<tenant>/records/<name>.yaml',
    names: 'within-tenant',
    takesName: 'name',
  },
  ResponsePolicy: {
    schema: objectOf('ResponsePolicy', ResponsePolicySpec),
    path: 'rpz/<source>.yaml',
    names: 'within-tenant',
    feature: 'response-policy',
  },
  Delivery: {
    schema: objectOf('Delivery', DeliverySpec),
    path: 'deliveries/<channel>.yaml',
    names: 'within-tenant',
  },
  Redirect: {
    schema: objectOf('Redirect', RedirectSpec),
    path: 'tenants/<tenant>/redirects/<name>.yaml',
    names: 'within-tenant',
    feature: 'redirects',
    takesName: 'sourceFqdn',
  },
  DelegatedDomain: {
    schema: objectOf('DelegatedDomain', DelegatedDomainSpec),
    path: 'tenants/<tenant>/domains/<name>.yaml',
    names: 'within-tenant',
    takesName: 'domain',
  },
  Rollout: {
    schema: objectOf('Rollout', RolloutSpec),
    path: 'tenants/<tenant>/rollouts/<name>.yaml',
    names: 'within-tenant',
    feature: 'rollouts',
  },
  MaintenanceWindow: {
    schema: objectOf('MaintenanceWindow', MaintenanceWindowSpec),
    path: 'tenants/<tenant>/maintenance-windows/<name>.yaml',
    names: 'within-tenant',
  },
  Test: {
    schema: objectOf('Test', TestSpec),
    path: 'tests/<name>.yaml',
    tenantPath: 'tenants/<tenant>/tests/<name>.yaml',
    names: 'within-tenant',
  },
} as const satisfies Record<string, KindRow>

export type Kind = keyof typeof table
/** Kinds whose names are unique across all tenants. */
export type KindNamedEverywhere = {
  [K in Kind]: (typeof table)[K]['names'] extends 'everywhere' ? K : never
}[Kind]
/** The checked object of each kind, defaults filled in. */
export type ObjectOf = { readonly [K in Kind]: Static<(typeof table)[K]['schema']> }
export type SettingsObject = ObjectOf['Settings']

export const kinds: { readonly [K in Kind]: KindRow } = Object.freeze(table)
export const kindNames = Object.freeze(Object.keys(kinds)) as readonly Kind[]

/** Whether objects of this kind take DNS names. */
export const isNaming = (kind: Kind): boolean => kinds[kind].takesName !== undefined
export const namingKinds: readonly Kind[] = Object.freeze(kindNames.filter(isNaming))

/** Path pattern of a tenant's objects of this kind; undefined: tenants have none. */
export function tenantPathOf(kind: Kind): string | undefined {
  const { path, tenantPath } = kinds[kind]
  return tenantPath ?? (path.startsWith('tenants/') ? path : undefined)
}

/** Makes a record with one value for each kind; the type keeps it complete when a kind is added. */
export function forEachKind<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(kindNames.map((kind) => [kind, make(kind)])) as Record<Kind, T>
}

function objectOf<const Name extends string, Spec extends TSchema>(kind: Name, spec: Spec) {
  return Type.Object(
    {
      apiVersion: Type.Literal(apiVersion, { description: 'Version of this format.' }),
      kind: Type.Literal(kind, { description: 'What the file declares.' }),
      metadata: Metadata,
      spec,
    },
    { additionalProperties: false },
  )
}
