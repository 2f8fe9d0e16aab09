// Titles of the general screen: words, also where no menu has the list.
import { expect, test } from 'vitest'
import { pathOf, titleOfPath } from '#dashboard/app/navigation.ts'

test.each([
  ['dnssec.zones', 'DNSSEC'],
  ['acme.certificates', 'Certificates'],
  ['zone-pushes', 'Zones pushed elsewhere'],
  ['a.later-list', 'a.later-list'],
])('the list /r/%s has the title %s', (name, title) => {
  expect(titleOfPath(pathOf(name))).toBe(title)
})
