// Keys and variables that gslbd.yaml does not take, and what is said instead.
import { describe, expect, test } from 'vitest'
import { loadSettings } from '#settings/settings.ts'
import { readSettingsText } from '#settings/file.ts'
import { keysUnder, repositoryKeys } from '#settings/schema.ts'
import { nodeSettings, SettingsSpec } from '#schemas/objects/settings.ts'

function problems(text: string): readonly string[] {
  const read = readSettingsText(text, 'gslbd.yaml')
  return read.ok ? [] : read.error
}

const spec = SettingsSpec.properties as Readonly<Record<string, { properties?: object }>>
const keysIn = (name: string): readonly string[] => Object.keys(spec[name]?.properties ?? {})

/** Keys of one file; those below a section for a section that the other file has, too. */
function keysBut(
  own: readonly string[],
  below: (name: string) => readonly string[],
  others: readonly string[],
): readonly string[] {
  return own
    .flatMap((name) => (others.includes(name) ? below(name).map((key) => `${name}.${key}`) : name))
    .toSorted()
}

describe('a setting that does not belong into gslbd.yaml', () => {
  test.each(repositoryKeys)('says where %s belongs', (key) => {
    const nested = key.split('.').toReversed()
    const text = nested.reduce((value, name) => `{ ${name}: ${value} }`, '1')
    expect(problems(text)).toEqual([expect.stringContaining(`: ${key} is the same for all nodes`)])
  })

  test('is what the settings of the repository have, but for sections of both', () => {
    expect(repositoryKeys).toEqual(keysBut(Object.keys(spec), keysIn, keysUnder([])))
  })

  test('is the other way round what a node has, but for sections of both', () => {
    const keys = keysBut(keysUnder([]), (name) => keysUnder([name]), Object.keys(spec))
    expect([...nodeSettings].toSorted()).toEqual(keys)
  })

  test('ignores variables that are not ours, such as those Kubernetes sets', () => {
    expect(loadSettings({ env: { GSLB_PORT: 'tcp://10.0.0.1:53' }, flags: {} }).ok).toBe(true)
  })
})
