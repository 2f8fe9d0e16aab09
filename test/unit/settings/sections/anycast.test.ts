// Tests the settings of announced addresses beyond the form of each.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadSettings } from '#settings/settings.ts'
import { tempDir } from '#test/support/temp-dir.ts'

function faultsOf(anycast: object): readonly string[] {
  const file = join(tempDir('anycast'), 'gslbd.yaml')
  writeFileSync(file, JSON.stringify({ anycast }))
  const settings = loadSettings({ file, env: {}, flags: {} })
  return settings.ok
    ? []
    : settings.error.map((line) => line.replace(/^.*?gslbd\.yaml(:\S+)? /, ''))
}

const bird = { driver: 'bird', addresses: ['192.0.2.53', '2001:db8::53'] }

test.each([
  ['nothing at all', {}, []],
  ['BIRD with its defaults', bird, []],
  ['ExaBGP with a pipe', { ...bird, driver: 'exabgp', exabgp: { pipe: '/run/exabgp.in' } }, []],
  ['a record of half a day and a little', { ...bird, maxBundleAge: '13h' }, []],
  ['no addresses', { driver: 'bird' }, ['anycast.addresses is missing']],
  ['ExaBGP without one', { ...bird, driver: 'exabgp' }, ['anycast.exabgp.pipe is missing']],
  ['a network', { addresses: ['192.0.2.0/24'] }, ['anycast.addresses holds "192.0.2.0/24"']],
  ['an age that all nodes reach', { ...bird, maxBundleAge: '1h' }, ['maxBundleAge is less than']],
  [
    'a command as a protocol',
    { bird: { protocols: ['x;configure'] } },
    ['such as [gslbd4, gslbd6]'],
  ],
  ['a daemon that nobody knows', { driver: 'frr' }, ['none, bird or exabgp']],
  ['a line break in a command', { exabgp: { attributes: 'a\nb' } }, ['printable ASCII']],
])('%s', (_name, section, faults) => {
  const found = faultsOf(section)
  expect(found).toHaveLength(faults.length)
  faults.forEach((fault, i) => expect(found[i]).toContain(fault))
})
