import { describe, expect, test } from 'vitest'
import { unprobed } from '#ports/member-health.ts'
import type { AskedMember } from '#ports/member-health.ts'
import { statsByTenant, statsOf } from '#api/resources/dashboard.ts'
import { createCommits, member, objectOf } from '#test/support/feed-world.ts'

/** `acme` has two pools and a service, `zenith` a pool with a member that fails. */
function create() {
  const { view: config, commit } = createCommits()
  const geoRules = [{ cidr: '203.0.113.0/24', endpoint: '192.0.2.3' }]
  commit(
    objectOf('Pool', 'acme', 'web', { members: [member('192.0.2.1'), member('192.0.2.2')] }),
    objectOf('Pool', 'acme', 'mail', { members: [member('192.0.2.3')], geoRules }),
    objectOf('Pool', 'zenith', 'secret', { members: [member('198.51.100.1')] }),
    objectOf('Service', 'acme', 'www', { domain: 'www.example.com.', pool: 'web' }),
  )
  const asked: string[] = []
  const memberHealth = {
    node: 'n1',
    of: ({ ipAddress }: AskedMember) => {
      asked.push(ipAddress)
      return unprobed('n1', ipAddress !== '198.51.100.1')
    },
    onChange: () => () => undefined,
  }
  const node = { uptimeSeconds: () => 7.5, webSocketClients: () => 2, clientRegions: () => null }
  return { asked, ports: { config, memberHealth, node } }
}

describe('the numbers of all tenants', () => {
  test('look at each member once, however many are asked for', () => {
    const { asked, ports } = create()
    const stats = statsByTenant(ports)
    for (const tenant of ['acme', 'zenith', null, 'acme']) stats(tenant)
    expect(asked.toSorted()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3', '198.51.100.1'])
  })

  test.each([
    ['acme', [2, 3, 3, 0, 1, 1]],
    ['zenith', [1, 1, 0, 1, 0, 0]],
    ['nobody', [0, 0, 0, 0, 0, 0]],
    [null, [3, 4, 3, 1, 1, 1]],
  ])('equal those of the API for %s', (tenant, [pools, members, well, ill, ...rest]) => {
    const { ports } = create()
    const caller = { tenant: tenant ?? '', isSystemAdmin: tenant === null }
    const stats = statsByTenant(ports)(tenant)
    expect(stats).toEqual({
      totalPools: pools,
      totalMembers: members,
      healthyMembers: well,
      unhealthyMembers: ill,
      unprobedMembers: well,
      totalServices: rest[0],
      totalGeoRules: rest[1],
      uptimeSeconds: 7,
      webSocketClients: 2,
    })
    expect(stats).toEqual(statsOf({ caller, ports }))
  })
})
