// What a zone says of the zones of ours below it, and what that costs.
import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { Bundle } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { exportZone } from '#zones/export/zone-export.ts'
import { createCompiler } from '#compiler/compile.ts'
import { formatName } from '#dns/name.ts'
import { sourceFile } from '../../compiler/fixture.ts'

/** `example.com.` with so many zones below it, each with a name server inside. */
function bundleOf(count: number): Bundle {
  const zone = (name: string): string =>
    `{ name: ${name}, nameservers: [{ name: ns.${name}, addresses: [192.0.2.1] }] }`
  const names = Array.from({ length: count }, (_, i) => `z${i}.example.com.`)
  const zones = ['example.com.', ...names].map((name) => `    - ${zone(name)}\n`).join('')
  const text =
    'apiVersion: gslb/v1\nkind: Settings\nmetadata: { name: settings }\n' +
    `spec:\n  zones:\n${zones}`
  const result = createCompiler().compile([sourceFile('gslb.yaml', text)], { commit: '' })
  assert(result.ok)
  const loaded = loadBundle(result.bundle.bytes)
  assert(loaded.ok)
  return loaded.value
}

/** How often the export looks at a part of the bundle. */
function exported(count: number) {
  let steps = 0
  const counted = new Proxy(bundleOf(count), {
    get(bundle, key, receiver) {
      steps++
      return Reflect.get(bundle, key, receiver) as unknown
    },
  })
  const zone = exportZone(counted, 'example.com.', 1)
  assert(zone !== undefined)
  return { steps, records: zone.records }
}

test('a zone has the delegation and the glue of each zone of ours below it', () => {
  const { records } = exported(2)
  const below = records.map(({ owner, type }) => `${formatName(owner)} ${type}`)
  assert.deepEqual(below.filter((one) => one.includes('z1')).sort(), [
    'ns.z1.example.com. 1',
    'z1.example.com. 2',
  ])
})

test('each node is looked at a few times, however many zones there are', () => {
  const [few, many] = [exported(200).steps, exported(800).steps]
  assert(many < few * 5, `${few} steps for 200 zones, ${many} for 800`)
})
