// The path of a new object's file is one where its kind lies, of a tenant or of everybody.
import { expect, test } from 'vitest'
import { isHomeOf, roleOf } from '#compiler/read/layout.ts'
import { freePath } from '#config/free-path.ts'
import { kindNames, kinds, tenantPathOf } from '#schemas/kinds.ts'

const empty = { isTaken: () => false, isFile: () => false }

test('the file of a new object lies where the compiler reads its kind', () => {
  for (const kind of kindNames.filter((one) => kinds[one].names !== 'alone')) {
    const tenant = tenantPathOf(kind) === undefined ? '' : 'acme'
    const role = roleOf(freePath(kind, tenant, 'one', empty))
    expect(isHomeOf(kind, role), kind).toBe(true)
    expect(role).toEqual(tenant === '' ? { role: 'shared', kind } : { role: 'tenant', tenant })
  }
})

test('a policy test that comes back to a tenant does not become one of everybody', () => {
  expect(freePath('Test', 'acme', 'www', empty)).toBe('tenants/acme/tests/www.yaml')
  expect(freePath('Test', '', 'www', empty)).toBe('tests/www.yaml')
})

test('a kind lies nowhere else', () => {
  for (const kind of kindNames) {
    const others = kindNames.filter((other) => !kinds[other].path.startsWith('tenants/'))
    const homes = others.filter((other) => isHomeOf(kind, roleOf(kinds[other].path)))
    expect(homes).toEqual(kinds[kind].path.startsWith('tenants/') ? [] : [kind])
    expect(isHomeOf(kind, roleOf('other/one.yaml'))).toBe(false)
  }
})
