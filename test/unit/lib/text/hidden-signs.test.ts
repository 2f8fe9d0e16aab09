// No name for people holds a sign that hides what it is: a control character, an end of a line, a
// sign that turns the direction of writing.
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { NewSilence } from '#api/alerts/alert.ts'
import { NewAlertChannel } from '#api/alerts/channel.ts'
import { DisplayName, Email } from '#access/auth/user-json.ts'
import { textPattern } from '#lib/text/patterns.ts'
import { Metadata } from '#schemas/objects/metadata.ts'
import { TenantSpec } from '#schemas/objects/tenant.ts'

const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u
const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
const signs = all.filter((sign) => hidden.test(sign))

const channel = (name: string) => ({ name, kind: 'webhook', url: 'https://example.com/' })

const rows = [
  ['a name of an object', Metadata, (text: string) => ({ name: text })],
  ['the name of a tenant', TenantSpec.properties.displayName, (text: string) => text],
  ['the name of a user', DisplayName, (text: string) => text],
  ['an address of a user', Email, (text: string) => `${text}@example.com`],
  ['a channel of alerts', NewAlertChannel.properties.name, (text: string) => channel(text).name],
  ['the reason of a silence', NewSilence.properties.reason, (text: string) => text],
] as const

test.each(rows)('%s holds none of them', (_, schema, make) => {
  const check = new Ajv({ strict: false }).compile(schema)
  expect(check(make('Größe-«1»-فارسی'))).toBe(true)
  const taken = signs.filter((sign) => check(make(`a${sign}b`)))
  expect(taken).toEqual([])
})

test('hidden characters alone are refused among all of one unit', () => {
  const pattern = new RegExp(textPattern, 'u')
  expect(all.filter((sign) => !pattern.test(sign))).toEqual(signs)
})
