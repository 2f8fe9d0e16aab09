// What a discovered member asks for: read from its text, and kept in a bundle.
import { describe, expect, test } from 'vitest'
import {
  discoveredText,
  discoveredWire,
  isDiscoveredAt,
  nameForTenant,
  parseDiscovered,
  partsForTenant,
} from '#bundle/discovered/from.ts'

describe('the source that a member asks', () => {
  const rows = [
    ['inventory', { source: 'inventory', service: '', labels: [] }],
    ['consul/shop', { source: 'consul', service: 'shop', labels: [] }],
    ['k8s/default/web', { source: 'k8s', service: 'default/web', labels: [] }],
    [
      'a?x=1&y=b:c',
      {
        source: 'a',
        service: '',
        labels: [
          ['x', '1'],
          ['y', 'b:c'],
        ],
      },
    ],
  ] as const
  test.each(rows)('%s is read, and comes back from a bundle as it was', (text, parts) => {
    const { labels, ...rest } = parseDiscovered(text)!
    expect({ ...rest, labels: [...labels] }).toEqual(parts)
    const wire = discoveredWire(`from:${text}`)
    expect(discoveredText(wire, 0)).toBe(`from:${text}`)
    const asked = nameForTenant(`from:${text}`, 'acme')
    expect(partsForTenant(asked)).toEqual({ tenant: 'acme', text })
    expect(isDiscoveredAt(Uint8Array.from([wire.length, ...wire]), 0)).toBe(true)
  })

  test.each(['', 'A', 'a/', 'a?', 'a?x', 'a?x=', '-a', 'a b', `a/${'b'.repeat(199)}`])(
    '%j is refused',
    (text) => {
      expect(parseDiscovered(text)).toBeUndefined()
    },
  )
})
