import { Type } from '#lib/schema/type.ts'
import type { TObject } from '#lib/schema/type.ts'
import { describe, expect, test } from 'vitest'
import { operationId } from '#api/reference/openapi.ts'
import { routes } from '#api/routes.ts'
import { DelegatedDomainSpec } from '#schemas/objects/delegated-domain.ts'
import { GeoRule } from '#schemas/objects/geo-rule.ts'
import { HealthCheck } from '#schemas/objects/health-check.ts'
import { kindNames } from '#schemas/kinds.ts'
import type { Kind } from '#schemas/kinds.ts'
import { MaintenanceWindowSpec } from '#schemas/objects/maintenance-window.ts'
import { Member } from '#schemas/objects/member.ts'
import { PoolSpec } from '#schemas/objects/pool.ts'
import { RecordSet, RecordsSpec } from '#schemas/objects/records.ts'
import { RolloutSpec } from '#schemas/objects/rollout.ts'
import { ServiceSpec } from '#schemas/objects/service.ts'
import { TenantSpec } from '#schemas/objects/tenant.ts'

interface Resource {
  /** Fields of the file; `name` is that of its metadata. */
  readonly file: TObject
  /** Operations whose answer shows it, and whose body writes it: all of its fields, together. */
  readonly read: string
  readonly writes: readonly string[]
  /** Where the file calls something else, by the name of the file. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Fields that own routes write, or another field implies. */
  readonly elsewhere?: readonly string[]
  /** Fields that no client writes: the server or a route of its own sets them. */
  readonly readOnly?: readonly string[]
}

/**
 * A new field of a schema, or of the API, fails here until it is in both or in a list. Fields of a
 * health check come from one table, which both sides are made of.
 */
const resources: Readonly<Record<string, Resource>> = {
  Pool: {
    file: PoolSpec,
    read: 'getPoolsById',
    writes: ['postPools', 'putPoolsById', 'patchPoolsById'],
    elsewhere: ['members', 'healthCheck', 'geoRules'],
    readOnly: ['id'],
  },
  HealthCheck: {
    file: HealthCheck,
    read: 'getPoolsByIdHealthcheck',
    writes: ['putPoolsByIdHealthcheck', 'patchPoolsByIdHealthcheck'],
  },
  Member: {
    file: Member,
    read: 'getMembersById',
    writes: ['postPoolsByIdMembers', 'putMembersById', 'patchMembersById'],
    renamed: { uid: 'id' },
    readOnly: ['id', 'poolId', 'declaredWeight', 'declaredEnabled', 'heldBy'],
  },
  GeoRule: {
    file: GeoRule,
    read: 'putGeorulesById',
    writes: ['postPoolsByPoolIdGeorules', 'putGeorulesById'],
    renamed: { uid: 'id' },
    readOnly: ['id', 'poolId', 'createdAt', 'updatedAt'],
  },
  Service: {
    file: ServiceSpec,
    read: 'getServicesById',
    writes: ['postServices', 'putServicesById', 'patchServicesById'],
    renamed: { pool: 'poolId' },
    readOnly: ['id'],
  },
  // Each set in a file of records is a resource; they share the zone.
  Records: {
    file: Type.Object({ zone: RecordsSpec.properties.zone, ...RecordSet.properties }),
    read: 'getRecordsById',
    writes: ['postRecords', 'putRecordsById', 'patchRecordsById'],
    readOnly: ['id'],
  },
  MaintenanceWindow: {
    file: MaintenanceWindowSpec,
    read: 'postMaintenanceWindows',
    writes: ['postMaintenanceWindows'],
    renamed: { resource: 'resourceId', members: 'memberIds' },
    readOnly: ['id', 'status', 'memberIds'],
  },
  Rollout: {
    file: RolloutSpec,
    read: 'getRolloutsById',
    writes: ['postRollouts'],
    renamed: { pool: 'poolId', member: 'memberId' },
    // `state` tells of them; pause, promote and abort write them.
    elsewhere: ['intents', 'settled'],
    readOnly: [
      ...['id', 'poolId', 'state', 'currentStep', 'weight', 'baseWeight', 'reason'],
      ...['baselineRttMs', 'startAt', 'settledAt'],
    ],
  },
  DelegatedDomain: {
    file: DelegatedDomainSpec,
    read: 'getDomains',
    writes: ['postDomains'],
    readOnly: [
      ...['id', 'verified', 'nsOk', 'dsOk', 'dsExpected', 'lastVerifiedAt', 'verificationError'],
      ...['checks', 'createdAt', 'tenantId'],
    ],
  },
  Tenant: {
    file: TenantSpec,
    read: 'getTenants',
    writes: ['postTenants'],
    renamed: { displayName: 'name' },
    readOnly: ['id', 'createdAt'],
  },
}

/** No route of the API is about them yet. */
const withoutApi: readonly Kind[] = ['Settings', 'ResponsePolicy', 'Delivery', 'Redirect', 'Test']
/** The name of the object is beside its spec in the file. */
const named: ReadonlySet<string> = new Set(['Pool', 'Service'])

describe.each(Object.entries(resources))('the fields of a %s', (kind, resource) => {
  const { file, read, writes, renamed = {}, elsewhere = [], readOnly = [] } = resource
  const inFile = Object.keys(file.properties)
    .filter((name) => !elsewhere.includes(name))
    .map((name) => renamed[name] ?? name)
  const declared = new Set([...inFile, ...(named.has(kind) ? ['name'] : [])])

  test('in files are those that the API shows, and no others', () => {
    const shown = keysOf(schemaOfAnswer(read))
    expect(shown.filter((name) => !declared.has(name) && !readOnly.includes(name))).toEqual([])
    expect([...declared].filter((name) => !shown.includes(name))).toEqual([])
  })

  test('in files are those that the API writes, and no others', () => {
    const written = new Set(writes.flatMap((id) => keysOf(schemaOfBody(id))))
    expect([...written].filter((name) => !declared.has(name))).toEqual([])
    const isWritten = (name: string) => written.has(name) || readOnly.includes(name)
    expect([...declared].filter((name) => !isWritten(name))).toEqual([])
  })

  test('that a PATCH takes are those that a POST or a PUT takes', () => {
    const patch = writes.find((id) => id.startsWith('patch'))
    if (patch === undefined) return
    const others = writes.filter((id) => id !== patch).flatMap((id) => keysOf(schemaOfBody(id)))
    expect(keysOf(schemaOfBody(patch)).toSorted()).toEqual([...new Set(others)].toSorted())
  })
})

test('every kind of object has a resource here, or is known to have no API', () => {
  const kinds = kindNames.filter((kind) => !(kind in resources))
  expect(kinds.toSorted()).toEqual(withoutApi.toSorted())
})

type Shape = { readonly properties?: Record<string, Shape>; readonly items?: Shape }

const rowOf = (id: string) => routes.find((row) => operationId(row) === id)!
const schemaOfBody = (id: string) => rowOf(id).body as Shape

function schemaOfAnswer(id: string): Shape {
  const { schema } = Object.values(rowOf(id).responses)[0]!
  const shape = schema as Shape
  return shape.items ?? shape
}

const keysOf = ({ properties = {} }: Shape): string[] => Object.keys(properties)
