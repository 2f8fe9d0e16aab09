import { expect, test } from 'vitest'
import { MemberNames, splitResource } from '#compiler/values/member-names.ts'
import { endpointKey } from '#compiler/values/member-target.ts'

const uids = ['0190a1b2-0000-7000-8000-000000000001', '0190a1b2-0000-7000-8000-000000000002']
const members = [
  { name: 'web-1', ipAddress: '192.0.2.1', hostname: '' },
  { name: '', ipAddress: '2001:db8::1', hostname: '' },
  { name: 'web-3', ipAddress: '192.0.2.1', hostname: '' },
  { name: 'LB.example.net', ipAddress: '', hostname: 'Lb.Example.net' },
]
const names = new MemberNames(members, (uid) => uids.indexOf(uid))

test.each([
  ['its name', 'web-1', [0]],
  ['its address', '2001:db8::1', [1]],
  ['another spelling of its address', '2001:DB8:0::1', [1]],
  ['its uid', uids[1]!, [1]],
  ['its uid in capitals', uids[1]!.toUpperCase(), [1]],
  ['its host name, in another spelling', 'lb.EXAMPLE.net.', [3]],
  ['a name that could be a host name', 'LB.example.net', [3]],
  ['an address that two have', '192.0.2.1', [0, 2]],
  ['a name that none has', 'web-2', []],
  ['a uid that none has', '0190a1b2-0000-7000-8000-000000000009', []],
  ['nothing', '', []],
])('a member is found by %s', (_what, text, places) => {
  expect(names.placesOf(text)).toEqual(places)
})

test('a resource is split at its first slash', () => {
  expect(splitResource('pool/web/1')).toEqual(['pool', 'web/1'])
  expect(splitResource('pool')).toEqual(['pool', undefined])
})

test('an address and a host name have one spelling, and a name its own', () => {
  expect(endpointKey('2001:DB8::0:1')).toBe('2001:db8::1')
  expect(endpointKey('LB.example.net')).toBe('lb.example.net.')
  expect(endpointKey('web-1')).toBe('web-1')
})
