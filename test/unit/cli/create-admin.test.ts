import { afterEach, expect, test } from 'vitest'
import { createAdmin } from '#cli/create-admin.ts'
import { loadSettings } from '#cli/settings.ts'
import type { Settings } from '#cli/settings.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const directories: string[] = []
afterEach(() => directories.splice(0).forEach(removeTempDir))

function settingsOf(): Settings {
  const dataDir = makeTempDir('create-admin')
  directories.push(dataDir)
  const settings = loadSettings({ env: {}, flags: { 'data-dir': dataDir } })
  if (!settings.ok) throw new Error(settings.error.join())
  return settings.value
}

test('creates the first account and then nothing more, without asking', async () => {
  const settings = settingsOf()
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
})

test.each([
  ['a password that is too short', { email: 'a@example.com', password: 'short' }, 'password must'],
  ['no address', { email: 'ann', password: 'correct horse' }, 'no e-mail address'],
])(
  'refuses %s',
  async (_what, answers, sentence) => {
    const created = await createAdmin(settingsOf(), async () => answers)
    expect(created.ok ? '' : created.error).toContain(sentence)
  },
  60_000,
)
