// Target groups of Prometheus, and what is said of those that cannot be read or used.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { targetsOfGroups } from '#integrations/targets/target-groups.ts'
import { checkTargets, hostAndPort } from '#integrations/targets/targets.ts'
import { discoveryLimits } from '#integrations/targets/limits.ts'

describe('a list that cannot be read', () => {
  const rows: readonly (readonly [what: string, json: unknown, why: string])[] = [
    ['no list', { targets: [] }, 'it is no list of target groups'],
    ['a group that is a text', ['a'], 'group 1 is no object'],
    ['a group without targets', [{ labels: {} }], 'group 1 has no list "targets"'],
    ['a target that is a number', [{ targets: [1] }], 'group 1 has a target that is no text'],
    ['labels in a list', [{ targets: [], labels: [] }], 'the labels of group 1 are no object'],
    [
      'everything there is',
      [{ targets: Array.from({ length: discoveryLimits.targetsMax + 1 }, () => '192.0.2.1:80') }],
      'it has more than 10000 targets',
    ],
  ]
  test.each(rows)('%s is refused with its place', (_, json, why) => {
    expect(targetsOfGroups(json)).toEqual({ ok: false, error: why })
  })
})

describe('a target', () => {
  const rows: readonly (readonly [text: string, address: string, port: number])[] = [
    ['192.0.2.1:80', '192.0.2.1', 80],
    ['192.0.2.1', '192.0.2.1', 0],
    ['[2001:db8::1]:443', '2001:db8::1', 443],
    ['2001:db8::1', '2001:db8::1', 0],
    ['web.example.net:80', 'web.example.net', 80],
  ]
  test.each(rows)('%s has its address and its port', (text, address, port) => {
    expect(hostAndPort(text)).toEqual({ address, port })
  })
})

describe('what no client can be sent to is left out', () => {
  const rows: readonly (readonly [target: string, labels: object, fault: string])[] = [
    ['web.example.net:80', {}, '"web.example.net" is no address'],
    ['127.0.0.1:80', {}, 'is a loopback address; give it another, or set dns.allowLocalTargets'],
    ['224.0.0.1:80', {}, 'is a multicast address'],
    ['[::ffff:192.0.2.1]:80', {}, 'is an IPv4-mapped address'],
    ['192.0.2.1:99999', {}, 'has the port 99999'],
    ['192.0.2.1:80', { weight: 'heavy' }, 'has a weight that is no number from 0 to 65535'],
    ['192.0.2.1:80', { weight: '65536' }, 'has a weight that is no number from 0 to 65535'],
    ['192.0.2.1:80', { weight: '0' }, ''],
  ]
  test.each(rows)('%s with %j', (target, labels, fault) => {
    const raw = targetsOfGroups([{ targets: [target], labels }])
    const checked = checkTargets(raw.ok ? raw.value : [], 'weight', false)
    expect(checked.targets).toEqual([])
    expect(checked.leftOut).toBe(1)
    expect(checked.fault).toContain(fault)
  })
})

test('loopback addresses are members where the settings permit them', () => {
  const raw = targetsOfGroups([{ targets: ['127.0.0.1:80'], labels: { Weight: 5, Zone: 'EU-1' } }])
  const { targets } = checkTargets(raw.ok ? raw.value : [], 'weight', true)
  expect(targets).toMatchObject([{ address: '127.0.0.1', port: 80, weight: 5 }])
  expect(targets[0]!.labels.get('zone')).toEqual(['eu-1'])
})

test('whatever JSON it is, reading it ends with targets or with a sentence', () => {
  const group = fc.record({
    targets: fc.array(fc.string()),
    labels: fc.dictionary(fc.string(), fc.jsonValue()),
  })
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.array(group)), (json) => {
      const read = targetsOfGroups(json)
      if (!read.ok) return read.error !== ''
      const { targets, leftOut } = checkTargets(read.value, 'weight', false)
      return targets.length + leftOut === read.value.length
    }),
  )
})
