// Keys and variables that gslbd.yaml does not take, and what is said instead.
import { describe, expect, test } from 'vitest'
import { loadSettings } from '#settings/settings.ts'
import { readSettingsText } from '#settings/file.ts'
import { keysUnder, repositoryKeys } from '#settings/schema.ts'
import { routingSettings } from '#schemas/objects/routing-settings.ts'

function problems(text: string): readonly string[] {
  const read = readSettingsText(text, 'gslbd.yaml')
  return read.ok ? [] : read.error
}

describe('a setting that does not belong into gslbd.yaml', () => {
  test.each(repositoryKeys)('says where %s belongs', (key) => {
    const nested = key.split('.').toReversed()
    const text = nested.reduce((value, name) => `{ ${name}: ${value} }`, '1')
    expect(problems(text)).toEqual([expect.stringContaining(`: ${key} is the same for all nodes`)])
  })

  test('is what the settings of the repository have for routing, but for sections of both', () => {
    const keys = Object.entries(routingSettings).flatMap(([name, { properties }]) =>
      keysUnder([]).includes(name)
        ? Object.keys(properties).map((key) => `${name}.${key}`)
        : [name],
    )
    expect(repositoryKeys).toEqual(keys.toSorted())
  })

  test('ignores variables that are not ours, such as those Kubernetes sets', () => {
    expect(loadSettings({ env: { GSLB_PORT: 'tcp://10.0.0.1:53' }, flags: {} }).ok).toBe(true)
  })
})
