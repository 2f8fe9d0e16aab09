// Signs that look like those of YAML: told where they are the mistake, welcome in every other text.
import { expect, test } from 'vitest'
import { readFile } from '#compiler/read/read-file.ts'

const codesOf = (text: string): string[] =>
  readFile('', Buffer.from(text)).findings.map(({ code }) => code)

const tenant = (displayName: string): string =>
  `apiVersion: gslb/v1\nkind: Tenant\nmetadata: { name: default }\nspec:\n  displayName: ${displayName}\n`

test.each([
  '«Blue»',
  '“Blue”',
  '‘Blue’',
  '„Blue',
  '– Blue',
  '— Blue',
  'Blue\u00a0',
  'a:\u00a0b',
  '\u00a0Blue',
  '>-\n    “Blue”\n    – grey',
  '"“Blue”"',
])('%s is a name like any other', (name) => {
  expect(codesOf(tenant(name))).toEqual([])
})

test('beside a mistake of another field such a name is no mistake', () => {
  const text = tenant('«Blue»')
  expect(codesOf(`${text}  quotas: 5\n`)).toEqual(['field-unknown'])
  expect(codesOf(text.replace('kind: ', 'kind:'))).toEqual(['yaml-space-missing'])
  expect(codesOf(`${text}  colour:red\n`)).toEqual(['yaml-space-missing', 'field-unknown'])
})

test('where the schema refuses the text with them, they are the mistake', () => {
  expect(codesOf(tenant('«Blue»').replace('kind: Tenant', 'kind: “Tenant”'))).toEqual([
    'yaml-lookalike',
  ])
  expect(codesOf(tenant('Blue').replace('kind: Tenant', 'kind:\u00a0Tenant'))).toEqual([
    'yaml-lookalike',
  ])
})

test('each of several wrong dashes is told', () => {
  const members = '    – ipAddress: 192.0.2.1\n      port: 80\n'.repeat(3)
  const head = 'apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: «Blue» }\nspec:\n  members:\n'
  expect(codesOf(head + members)).toEqual(['yaml-lookalike', 'yaml-lookalike', 'yaml-lookalike'])
})
