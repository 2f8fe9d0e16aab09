// What zones say of their digests, from their settings to the bundle.
import { assert, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { routingSettingsOf } from '#routing/choose/environment.ts'
import { bundleOf } from '#test/support/bundle-models.ts'
import { sourceFile } from '#test/unit/compiler/fixture.ts'

test('a zone that says whether it has a digest says so in the bundle, by its name', () => {
  const zones = ['A.Example., zonemd: true', 'b.example., zonemd: false', 'c.example.']
  const text = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  defaults: { nameservers: [{ name: ns1.example.net. }] }
  zones: [${zones.map((one) => `{ name: ${one} }`).join(', ')}]
`
  const compiled = createCompiler().compile([sourceFile('gslb.yaml', text)], { commit: '' })
  assert(compiled.ok)
  const { zoneDigests } = routingSettingsOf(bundleOf(compiled.model))
  expect(zoneDigests).toEqual({ 'a.example.': true, 'b.example.': false })
})
