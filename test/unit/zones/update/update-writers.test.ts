// What principals of Kerberos may write by the grants of the settings.
import { expect, test } from 'vitest'
import { formatName } from '#dns/name.ts'
import { machineName, writerOfPrincipal } from '#zones/update/update-writers.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

test.each([
  ['PC1$@EXAMPLE.COM', 'pc1.example.com.'],
  ['pc_1-x$@ad.EXAMPLE.COM', 'pc_1-x.ad.example.com.'],
  ['host/PC1.example.org@EXAMPLE.COM', 'pc1.example.org.'],
  ['host/pc1@EXAMPLE.COM', undefined],
  ['host/pc1.example.org/x@EXAMPLE.COM', undefined],
  ['HTTP/pc1.example.org@EXAMPLE.COM', undefined],
  ['ann@EXAMPLE.COM', undefined],
  ['a.b$@EXAMPLE.COM', undefined],
  ['www\\@x$@EXAMPLE.COM', undefined],
  [`${'a'.repeat(64)}$@EXAMPLE.COM`, undefined],
  ['PC1$@EXAMPLE..COM', undefined],
])('the machine %s has the name %s', (principal, name) => {
  const wire = machineName(principal)
  expect(wire && formatName(wire)).toBe(name)
})

const self = { principal: '*$@EXAMPLE.COM', scope: 'self' } as const
const below = (principal: string) => ({ principal, scope: wireName('d.example.com.') })
test.each([
  ['PC1$@EXAMPLE.COM', [self], 'pc1.example.com.', true],
  ['PC1$@EXAMPLE.COM', [self], 'x.pc1.example.com.', false],
  ['PC1$@EXAMPLE.COM', [self], 'pc2.example.com.', false],
  ['PC1$@OTHER.COM', [self], 'pc1.other.com.', false],
  ['ann@EXAMPLE.COM', [self], 'ann.example.com.', false],
  ['ann@EXAMPLE.COM', [below('ann@EXAMPLE.COM')], 'x.d.example.com.', true],
  ['ann@EXAMPLE.COM', [below('ann@EXAMPLE.COM')], 'example.com.', false],
  ['ann@EXAMPLE.COM', [self, below('*@EXAMPLE.COM')], 'd.example.com.', true],
  ['annx@EXAMPLE.COM', [below('ann@EXAMPLE.COM')], 'd.example.com.', false],
  ['ann@EXAMPLE.COM', [below('ann@EXAMPLE.CO')], 'd.example.com.', false],
  ['ann@EXAMPLEXCOM', [below('*@EXAMPLE.COM')], 'd.example.com.', false],
  ['ann\\@EXAMPLE.COM@EVIL', [below('*@EXAMPLE.COM')], 'd.example.com.', false],
  ['x\\@y@EXAMPLE.COM', [below('*@EXAMPLE.COM')], 'd.example.com.', false],
  ['ann@EXAMPLE.COM\n', [below('*@EXAMPLE.COM')], 'd.example.com.', false],
  ['kea/a.example.com@EXAMPLE.COM', [below('kea/*@EXAMPLE.COM')], 'd.example.com.', true],
  ['kea@EXAMPLE.COM', [below('kea/*@EXAMPLE.COM')], 'd.example.com.', false],
  ['ann/admin@EXAMPLE.COM', [below('*/admin@EXAMPLE.COM')], 'd.example.com.', true],
  // One component with a slash in it.
  ['ann\\/admin@EXAMPLE.COM', [below('*/admin@EXAMPLE.COM')], 'd.example.com.', false],
  ['ann@EXAMPLE.COM', [], 'd.example.com.', false],
])('%s by %j at %s: %s', (principal, grants, name, may) => {
  const { refusal } = writerOfPrincipal(principal, { tenantId: 'default', grants })
  expect(refusal(wireName(name))).toBe(
    may ? undefined : `${principal} has no right to ${name}: see dns.update.gssTsig.grants`,
  )
})
