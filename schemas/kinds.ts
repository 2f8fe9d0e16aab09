// Every kind of object that a configuration repository may hold.
import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'
import { DelegatedDomainSpec } from './objects/delegated-domain.ts'
import { MaintenanceWindowSpec } from './objects/maintenance-window.ts'
import { Metadata, apiVersion } from './objects/metadata.ts'
import { PoolSpec } from './objects/pool.ts'
import { RedirectSpec } from './objects/redirect.ts'
import { ResponsePolicySpec } from './objects/response-policy.ts'
import { RolloutSpec } from './objects/rollout.ts'
import { ServiceSpec } from './objects/service.ts'
import { SettingsSpec } from './objects/settings.ts'
import { TenantSpec } from './objects/tenant.ts'

export const PoolObject = objectOf('Pool', PoolSpec)
export type PoolObject = Static<typeof PoolObject>
export const ServiceObject = objectOf('Service', ServiceSpec)
export type ServiceObject = Static<typeof ServiceObject>
export const TenantObject = objectOf('Tenant', TenantSpec)
export type TenantObject = Static<typeof TenantObject>
export const SettingsObject = objectOf('Settings', SettingsSpec)
export type SettingsObject = Static<typeof SettingsObject>
export const ResponsePolicyObject = objectOf('ResponsePolicy', ResponsePolicySpec)
export type ResponsePolicyObject = Static<typeof ResponsePolicyObject>
export const RedirectObject = objectOf('Redirect', RedirectSpec)
export type RedirectObject = Static<typeof RedirectObject>
export const DelegatedDomainObject = objectOf('DelegatedDomain', DelegatedDomainSpec)
export type DelegatedDomainObject = Static<typeof DelegatedDomainObject>
export const RolloutObject = objectOf('Rollout', RolloutSpec)
export type RolloutObject = Static<typeof RolloutObject>
export const MaintenanceWindowObject = objectOf('MaintenanceWindow', MaintenanceWindowSpec)
export type MaintenanceWindowObject = Static<typeof MaintenanceWindowObject>

export interface ObjectOf {
  readonly Settings: SettingsObject
  readonly Tenant: TenantObject
  readonly Pool: PoolObject
  readonly Service: ServiceObject
  readonly ResponsePolicy: ResponsePolicyObject
  readonly Redirect: RedirectObject
  readonly DelegatedDomain: DelegatedDomainObject
  readonly Rollout: RolloutObject
  readonly MaintenanceWindow: MaintenanceWindowObject
}
export type Kind = keyof ObjectOf

/** Kind to schema. Adding a kind means one file, one line here, one fixture. */
export const kinds: Readonly<Record<Kind, TSchema>> = Object.freeze({
  Settings: SettingsObject,
  Tenant: TenantObject,
  Pool: PoolObject,
  Service: ServiceObject,
  ResponsePolicy: ResponsePolicyObject,
  Redirect: RedirectObject,
  DelegatedDomain: DelegatedDomainObject,
  Rollout: RolloutObject,
  MaintenanceWindow: MaintenanceWindowObject,
})

export const kindNames = Object.freeze(Object.keys(kinds)) as readonly Kind[]

/** Kinds that are checked like all others, and refused since nothing acts on them yet. */
export const unservedKinds: readonly Kind[] = Object.freeze(['Redirect', 'DelegatedDomain'])

/** Where each kind lives, for people. */
export const placeOf: Readonly<Record<Kind, string>> = Object.freeze({
  Settings: 'gslb.yaml',
  Tenant: 'tenants/<tenant>/tenant.yaml',
  Pool: 'tenants/<tenant>/pools/<name>.yaml',
  Service: 'tenants/<tenant>/services/<name>.yaml',
  ResponsePolicy: 'rpz/<source>.yaml',
  Redirect: 'tenants/<tenant>/redirects/<name>.yaml',
  DelegatedDomain: 'tenants/<tenant>/domains/<name>.yaml',
  Rollout: 'tenants/<tenant>/rollouts/<name>.yaml',
  MaintenanceWindow: 'tenants/<tenant>/maintenance-windows/<name>.yaml',
})

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
