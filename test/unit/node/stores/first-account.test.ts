import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAdmin } from '#node/stores/first-account.ts'
import { withLoneState } from '#node/stores/stopped-state.ts'
import { loadSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { ok } from '#lib/result.ts'
import { placeDatabase } from '#test/support/database-template.ts'
import { valueOf } from '#test/support/store-values.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

let dataDir: string
let settings: Settings
beforeAll(async () => {
  dataDir = makeTempDir('create-admin')
  await placeDatabase(dataDir)
  const loaded = loadSettings({ env: {}, flags: { 'data-dir': dataDir } })
  if (!loaded.ok) throw new Error(loaded.error.join())
  settings = loaded.value
})
afterAll(() => removeTempDir(dataDir))

// All tests share a directory, since a refused account leaves nothing in its database.
test.each([
  ['a password that is too short', { email: 'a@example.com', password: 'short' }, 'password must'],
  ['no address', { email: 'ann', password: 'correct horse' }, 'no e-mail address'],
])('refuses %s', async (_what, answers, sentence) => {
  const created = await createAdmin(settings, async () => answers)
  expect(created.ok ? '' : created.error).toContain(sentence)
})

test('creates the first account and then nothing more, without asking', async () => {
  const answers = { email: 'ann@example.com', password: 'correct horse' }
  const first = await createAdmin(settings, async () => answers)
  expect(first).toEqual({ ok: true, value: 'ann@example.com is system administrator' })
  const second = await createAdmin(settings, async () => {
    throw new Error('asked')
  })
  expect(second).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^there is an account already/) as string,
  })
  // When all accounts are deleted, this is the only way in again.
  await withLoneState(settings, async ({ users }) => {
    const [ann] = await valueOf(users.list('every-tenant'))
    return ok(await valueOf(users.delete('every-tenant', ann?.id ?? '')))
  })
  const third = await createAdmin(settings, async () => answers)
  expect(third).toEqual(first)
})
