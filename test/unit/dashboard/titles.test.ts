// Titles of the general screen: words, also where no menu has the list.
import { expect, test } from 'vitest'
import { titleOfPath } from '#dashboard/resources/table.ts'

test.each([
  ['dnssec.zones', 'DNSSEC'],
  ['acme.certificates', 'Certificates'],
  ['zone-pushes', 'Zones pushed elsewhere'],
  ['later.list', 'later.list'],
])('the list /r/%s has the title %s', (name, title) => {
  expect(titleOfPath(`/api/v1/${name.replaceAll('.', '/')}`)).toBe(title)
})
