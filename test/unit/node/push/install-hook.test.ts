// The hook that judges pushes: where it is put, what it leaves alone, when it goes.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installPushCheck, readPushCheck } from '#node/push/install-hook.ts'
import { loadSettings } from '#settings/settings.ts'
import type { Settings } from '#settings/settings.ts'
import { tempDir } from '#test/support/temp-dir.ts'

function scene() {
  const dataDir = join(tempDir('push-check'), "it's here")
  const gitdir = join(dataDir, 'config.git')
  mkdirSync(gitdir, { recursive: true })
  const settings = (gitops: object): Settings => {
    const loaded = loadSettings({ env: {}, flags: {} })
    if (!loaded.ok) throw new Error(loaded.error.join())
    const { value } = loaded
    return { ...value, dataDir, gitops: { ...value.gitops, ...gitops } }
  }
  return { gitdir, settings, hook: join(gitdir, 'hooks', 'pre-receive') }
}

test('the hook is written with its facts, again at each start, and removed when off', () => {
  const { gitdir, settings, hook } = scene()
  expect(installPushCheck(settings({}), '/usr/lib/gslbd/main.js').ok).toBe(true)
  expect(statSync(hook).mode & 0o111).not.toBe(0)
  expect(readFileSync(hook, 'utf8')).toContain("program='/usr/lib/gslbd/main.js'")
  expect(readPushCheck(gitdir)).toMatchObject({
    value: { branch: 'main', requireSignature: true, checkPolicy: { allowScriptChecks: false } },
  })
  expect(installPushCheck(settings({ branch: 'live' }), "/opt/it's/main.js").ok).toBe(true)
  expect(readFileSync(hook, 'utf8')).toContain(`program='/opt/it'\\''s/main.js'`)
  expect(readPushCheck(gitdir)).toMatchObject({ value: { branch: 'live' } })
  expect(installPushCheck(settings({ checkPushes: false }), 'x').ok).toBe(true)
  expect([existsSync(hook), existsSync(`${hook}.json`)]).toEqual([false, false])
  expect(installPushCheck(settings({ checkPushes: false }), 'x').ok).toBe(true)
})

test('a hook of somebody else stays, and it is said', () => {
  const { gitdir, settings, hook } = scene()
  mkdirSync(join(gitdir, 'hooks'))
  writeFileSync(hook, '#!/bin/sh\nexit 0\n')
  const refusal = installPushCheck(settings({}), 'x')
  expect(refusal.ok ? '' : refusal.error).toContain('is not of gslbd and stays')
  expect(installPushCheck(settings({ checkPushes: false }), 'x').ok).toBe(true)
  expect(readFileSync(hook, 'utf8')).toBe('#!/bin/sh\nexit 0\n')
})

test('a node with a remote puts none anywhere', () => {
  const { settings, hook } = scene()
  expect(installPushCheck(settings({ url: 'https://git.example.com/x' }), 'x').ok).toBe(true)
  expect(existsSync(hook)).toBe(false)
})

test('damaged or missing facts of the hook are reported as a clause', () => {
  const { gitdir, settings, hook } = scene()
  installPushCheck(settings({}), 'x')
  for (const content of ['', '{', 'null', '[]', '{"branch":1}', '{"branch":"main"}']) {
    writeFileSync(`${hook}.json`, content)
    expect([content, readPushCheck(gitdir).ok]).toEqual([content, false])
  }
  rmSync(`${hook}.json`)
  expect(readPushCheck(gitdir).ok).toBe(false)
})
