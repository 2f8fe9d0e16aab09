import { describe, expect, test } from 'vitest'
import { configEvents } from '#feed/config-events.ts'
import type { MemberPart } from '#api/resources/member.ts'
import type { ConfigEntry } from '#config/entry.ts'
import { createCommits, inShort, member, objectOf } from '#test/support/feed-world.ts'
import type { Heard } from '#test/support/feed-world.ts'

const poolUid = '01976c1e-7e5c-7000-8000-000000000001'
const serviceUid = '01976c1e-7e5c-7000-8000-000000000002'
const memberUid = '01976c1e-7e5c-7000-8000-000000000003'

const pool = (name: string, members: readonly object[], tenant = 'acme'): ConfigEntry =>
  objectOf('Pool', tenant, name, { members }, poolUid)
const service = (name: string, spec: object, tenant = 'acme'): ConfigEntry =>
  objectOf('Service', tenant, name, { domain: 'www.example.com.', ...spec }, serviceUid)
const one = member('192.0.2.1', { uid: memberUid })
const two = member('192.0.2.2')

/** `tenant: message` of each event, in order. */
function told(before: readonly ConfigEntry[], after: readonly ConfigEntry[]): string[] {
  const { view, commit } = createCommits()
  const lines: string[] = []
  commit(...before)
  view.onChange((change) => {
    const view = {
      of: (_pool: string, { weight, enabled }: MemberPart) => ({ weight, enabled, heldBy: null }),
    }
    for (const { tenant, message } of configEvents(change, { before: view, after: view })) {
      lines.push(`${tenant}: ${inShort(JSON.parse(message.toString()) as Heard)}`)
    }
  })
  commit(...after)
  return lines
}

const rows: readonly [string, readonly ConfigEntry[], readonly ConfigEntry[], readonly string[]][] =
  [
    [
      'a new pool comes before its members',
      [],
      [pool('web', [one, two])],
      [
        'acme: pool_update created web',
        'acme: member_update created 192.0.2.1',
        'acme: member_update created 192.0.2.2',
      ],
    ],
    [
      'a pool goes after its members',
      [pool('web', [one])],
      [],
      ['acme: member_update deleted 192.0.2.1', 'acme: pool_update deleted web'],
    ],
    [
      'a pool with another name',
      [pool('web', [one])],
      [pool('www', [one])],
      ['acme: pool_update updated www'],
    ],
    [
      'a member with another weight, and no other',
      [pool('web', [one, two])],
      [pool('web', [{ ...one, weight: 7 }, two])],
      ['acme: member_update updated 192.0.2.1'],
    ],
    [
      'members that come and go',
      [pool('web', [one])],
      [pool('web', [two])],
      ['acme: member_update deleted 192.0.2.1', 'acme: member_update created 192.0.2.2'],
    ],
    [
      'a file that is written differently, of which the API shows nothing',
      [pool('web', [{ ...one, ipAddress: '2001:db8::1' }])],
      [pool('web', [{ ...one, ipAddress: '2001:DB8:0::1' }])],
      [],
    ],
    ['a new service', [], [service('www', {})], ['acme: service_update created www']],
    [
      'a service with another ttl',
      [service('www', {})],
      [service('www', { ttl: 7 })],
      ['acme: service_update updated www'],
    ],
    ['a service that goes', [service('www', {})], [], ['acme: service_update deleted www']],
    [
      'a service whose pool has a new name, in both files',
      [pool('web', []), service('www', { pool: 'web' })],
      [pool('new', []), service('www', { pool: 'new' })],
      ['acme: pool_update updated new'],
    ],
    [
      'a service of another tenant: each sees its half',
      [service('www', {}, 'acme')],
      [service('www', {}, 'zenith')],
      ['acme: service_update deleted www', 'zenith: service_update created www'],
    ],
    [
      'a pool of another tenant with its members',
      [pool('web', [one], 'acme')],
      [pool('web', [one], 'zenith')],
      [
        'acme: member_update deleted 192.0.2.1',
        'acme: pool_update deleted web',
        'zenith: pool_update created web',
        'zenith: member_update created 192.0.2.1',
      ],
    ],
  ]

describe('a commit tells of', () => {
  test.each(rows)('%s', (_title, before, after, expected) => {
    expect(told(before, after)).toEqual(expected)
  })

  test('a service whose own file is the same, when its pool becomes another one', () => {
    const named = service('www', { pool: 'web' })
    const other = objectOf('Pool', 'acme', 'web', { members: [] })
    expect(told([pool('web', []), named], [other, named])).toEqual([
      'acme: pool_update deleted web',
      'acme: pool_update created web',
      'acme: service_update updated www',
    ])
  })
})
