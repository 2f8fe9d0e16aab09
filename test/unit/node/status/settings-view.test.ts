// The settings of a node as the API shows them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { settingRows } from '#settings/schema.ts'
import { loadSettings, reloadedSettings } from '#settings/settings.ts'
import type { Settings, SettingSources } from '#settings/settings.ts'
import { createSettingsView } from '#node/status/settings-view.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const directory = makeTempDir('settings-view')
afterAll(() => removeTempDir(directory))
const path = join(directory, 'gslbd.yaml')

function load(text: string, more: Partial<SettingSources> = {}): Settings {
  writeFileSync(path, text)
  const loaded = loadSettings({ file: path, env: {}, flags: {}, ...more })
  if (!loaded.ok) throw new Error(loaded.error.join('\n'))
  return loaded.value
}

function shown(settings: Settings, latest = settings) {
  const list = createSettingsView(
    () => settings,
    () => latest,
  ).list()
  return { list, of: (key: string) => list.find((one) => one.key === key) }
}

test('every setting is listed, once', () => {
  const keys = shown(load('')).list.map(({ key }) => key)
  expect(keys).toEqual(settingRows.map(({ key }) => key))
})

describe('the source of a value', () => {
  const text = 'dns: { port: 53 }\ngitops: { branch: live }\nlogging: { level: warn }'
  const settings = load(text, {
    env: { GSLB_GITOPS_BRANCH: 'night', GSLB_LOG_LEVEL: 'error' },
    flags: { 'log-level': 'debug' },
  })
  test.each([
    ['dns.port', { value: 53, source: 'file', origin: path }],
    ['gitops.branch', { value: 'night', source: 'environment', origin: 'GSLB_GITOPS_BRANCH' }],
    ['logging.level', { value: 'debug', source: 'command line', origin: '--log-level' }],
    ['api.port', { value: 8_080, source: 'default', origin: '' }],
    ['gitops.poll', { value: '30s', source: 'default', needsRestart: false }],
    ['auth.sessionTTL', { value: '1d', needsRestart: true }],
    ['api.webuiPath', { value: null, source: 'default' }],
  ])('%s', (key, expected) => {
    expect(shown(settings).of(key)).toMatchObject(expected)
  })
})

test('no secret and no password of an address is shown', () => {
  const word = 'hunter2'
  const env = {
    GSLB_DATABASE_URL: `postgresql://ann:${word}@db.example.com/gslbd`,
    GSLB_REDIS_URL: `redis://:${word}@redis.example.com`,
    GSLB_GITOPS_URL: `https://ann:${word}@git.example.com/x.git`,
    GSLB_OIDC_CLIENT_SECRET: word,
    GSLB_REDIRECT_CDN_TOKEN: word,
  }
  const { list, of } = shown(load('', { env }))
  expect(JSON.stringify(list)).not.toContain(word)
  expect(of('database.url')).toMatchObject({ value: '***', isSecret: true })
  expect(of('redis.url')?.value).toBe('redis://***@redis.example.com')
  expect(of('gitops.url')?.value).toBe('https://***@git.example.com/x.git')
  expect(of('auth.oidc.clientSecret')?.value).toBe('***')
  // The absence of a secret is shown.
  expect(shown(load('')).of('database.url')?.value).toBe('')
})

test('a setting changed in the file since SIGHUP is in effect, or waits for a restart', () => {
  const before = load('dns: { port: 53 }')
  const after = load('dns: { port: 54 }\ngitops: { poll: 5s }')
  const { list, of } = shown(reloadedSettings(before, after), after)
  expect(list.filter(({ isPending }) => isPending).map(({ key }) => key)).toEqual(['dns.port'])
  expect(of('dns.port')?.value).toBe(53)
  expect(of('gitops.poll')).toMatchObject({ value: '5s', source: 'file', isPending: false })
})
