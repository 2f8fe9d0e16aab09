// The table of kinds of channels: what a row says reaches the API, its secrets and the page.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { channelKinds } from '#alerts/channel-kinds.ts'
import { conditions } from '#alerts/conditions.ts'
import { AlertChannel, NewAlertChannel } from '#api/alerts/channel.ts'
import { expectTable, tableOf } from '#test/support/page-table.ts'

const page = new URL('../../../docs/operations/alerts.md', import.meta.url)

interface Settings {
  readonly properties: Readonly<Record<string, { readonly description: string }>>
}
const taken = NewAlertChannel.properties.settings as unknown as Settings
const shown = AlertChannel.properties.settings as unknown as Settings

test.each(channelKinds)(
  'the API takes each setting of $kind, as its row has it',
  ({ kind, fields }) => {
    for (const [name, { schema, isSecret }] of Object.entries(fields)) {
      const { description, ...bounds } = schema
      expect(taken.properties[name], `${name} is shared, and has other bounds`).toMatchObject(
        bounds,
      )
      const { description: words } = taken.properties[name]!
      expect(words).toContain(`${description}. For `)
      expect(words).toContain(`\`${kind}\``)
      const users = channelKinds.filter((row) => Object.hasOwn(row.fields, name))
      const isAlways = users.every((row) => row.fields[name]!.isSecret === true)
      expect([name, Object.hasOwn(shown.properties, name)]).toEqual([name, !isAlways])
      if (isSecret) expect(words).toMatch(new RegExp(`\`${kind}\` \\([^)]*secret`))
    }
  },
)

test.each(channelKinds)(
  'a change of where $kind sends its secrets is one that its row names',
  (row) => {
    const { kind, fields } = row
    const names = Object.keys(fields)
    const sent = names.filter((name) => fields[name]!.isSecret && !fields[name]!.isMade)
    const isAddressAlone = sent.every((name) => name === 'url')
    expect([kind, isAddressAlone || names.some((name) => fields[name]!.isPlace)]).toEqual([
      kind,
      true,
    ])
    for (const { goesWith } of Object.values(fields)) {
      if (goesWith === undefined) continue
      expect(names).toContain(goesWith)
      // What is kept goes by what is given, and a secret may be kept itself.
      expect(fields[goesWith]!.isSecret ?? false).toBe(false)
    }
    expect(names.filter((name) => fields[name]!.isMade).length).toBeLessThanOrEqual(1)
  },
)

// After a change of a row: GSLBD_UPDATE=1 npx vitest run test/unit/alerts/channel-kinds.test.ts,
// then prettier.
test('the page has a row for each kind', () => {
  const rows = channelKinds.map(({ kind, says, fields }) => {
    const named = (isNeeded: boolean): string =>
      Object.entries(fields)
        .filter(([, { isRequired }]) => (isRequired === true) === isNeeded)
        .map(([name, { isSecret }]) => `\`${name}\`${isSecret ? ' (secret)' : ''}`)
        .join(', ')
    return [`\`${kind}\``, says, named(true), named(false)]
  })
  const head = ['kind', 'sends', 'needs', 'may have']
  expectTable('docs/operations/alerts.md', tableOf(head, rows))
})

test.each(conditions.map(({ name, severity, audience }) => [name, severity, audience]))(
  'the page has a row for the condition %s',
  (name, severity, audience) => {
    const cells = [`\`${name}\``, severity, audience].map((text) => `${text} +\\|`).join(' ')
    expect(readFileSync(page, 'utf8')).toMatch(new RegExp(`^\\| ${cells}`, 'm'))
  },
)
