// The order of owners by keys of octets, beside the order of their texts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldName } from '#dns/name.ts'
import { canonicalKey } from '#dns/rdata-text/name-text.ts'
import { OwnerKeys } from '#import/owner-order.ts'

const origin = Uint8Array.of(1, 0x7a, 0)
const octet = fc.constantFrom(0, 1, 0x2a, 0x40, 0x41, 0x5a, 0x5b, 0x61, 0x7a, 0x7b, 255)
const label = fc.array(octet, { minLength: 1, maxLength: 3 })
const owner = fc
  .array(label, { maxLength: 4 })
  .map((labels) => Uint8Array.from([...labels.flatMap((one) => [one.length, ...one]), ...origin]))

test('owners are in canonical order, and equal ones in the order in which they came', () => {
  fc.assert(
    fc.property(fc.array(owner, { maxLength: 80 }), (owners) => {
      const keys = new OwnerKeys(origin.length)
      const keyOf = Uint32Array.from(owners, (one) => keys.add(one))
      const numbers = Uint32Array.from(owners.keys())
      keys.sort(numbers, keyOf)
      const texts = owners.map((one) => canonicalKey(foldName(one)))
      const byText = [...owners.keys()].sort((a, b) =>
        texts[a] === texts[b] ? a - b : texts[a]! < texts[b]! ? -1 : 1,
      )
      expect([...numbers]).toEqual(byText)
    }),
  )
})

test('names that are the same for long are sorted, too', () => {
  const owners = Array.from({ length: 2_000 }, (_, i) => {
    const text = Buffer.from(`${'x'.repeat(40)}${(i * 7) % 2_000}`)
    return Uint8Array.from([text.length, ...text, ...origin])
  })
  const keys = new OwnerKeys(origin.length)
  const keyOf = Uint32Array.from(owners, (one) => keys.add(one))
  const numbers = Uint32Array.from(owners.keys())
  keys.sort(numbers, keyOf)
  const sorted = owners.map((one) => Buffer.from(one.subarray(1)).toString('latin1')).sort()
  expect(
    Array.from(numbers, (i) => Buffer.from(owners[i]!.subarray(1)).toString('latin1')),
  ).toEqual(sorted)
})
