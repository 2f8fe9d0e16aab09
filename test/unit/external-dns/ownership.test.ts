import { expect, test } from 'vitest'
import { isOwnershipText, markedText, readOwnership } from '#external-dns/ownership.ts'

const own = 'heritage=external-dns,external-dns/owner=cluster-a,external-dns/resource=ingress/x/web'
const rows: readonly [name: string, set: string, of: string, text: string, stored: string][] = [
  ['a-www.acme.example.', '', 'www.acme.example.', `"${own}"`, `"${own}"`],
  ['www.acme.example.', '', 'www.acme.example.', `"${own}"`, `"${own}"`],
  ['a-www.acme.example.', 'b', 'www.acme.example.', `"${own}"`, `"${own},gslbd/set=b"`],
  [
    'reg.acme.example.',
    'eu, 1=%',
    'www.acme.example.',
    `"${own}"`,
    `"${own},gslbd/set=eu%2C%201%3D%25,gslbd/of=www.acme.example."`,
  ],
  // A name that looks as if it began with a type.
  [
    'a-team.acme.example.',
    '',
    'a-team.acme.example.',
    `"${own}"`,
    `"${own},gslbd/of=a-team.acme.example."`,
  ],
]
test.each(rows)('%s of the set "%s" about %s', (name, set, of, text, stored) => {
  expect(markedText({ text, set, of }, name, true)).toBe(stored)
  expect(isOwnershipText(stored)).toBe(true)
  expect(readOwnership(name, stored)).toEqual({ text, set, of, owner: 'cluster-a' })
})

test('an encrypted ownership record has a mark by which it is recognized', () => {
  const text = '"kO2x/wAB=="'
  const stored = markedText(
    { text, set: '', of: 'www.acme.example.' },
    'a-www.acme.example.',
    false,
  )
  expect(stored).toBe('"kO2x/wAB==,gslbd/of=www.acme.example."')
  const read = { text, set: '', of: 'www.acme.example.', owner: '' }
  expect(readOwnership('a-www.acme.example.', stored)).toEqual(read)
})

test.each(['"v=spf1 -all"', '"heritage=somebody,external-dns/owner=x"', '""'])(
  '%s is none',
  (text) => {
    expect(isOwnershipText(text)).toBe(false)
  },
)
