// `gslbd doctor` asks the node that runs whether the first account is still to be made.
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from '#cli/doctor/setup.ts'
import { loadSettings } from '#settings/settings.ts'
import { createWorld } from '#test/support/api-world.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { tempDir } from '#test/support/temp-dir.ts'
import type { Io } from '#system/process/command.ts'

const [, adapter] = persistentAdapters[0]!
const state = useState(adapter)

const withKey: Io['env'] = { GSLB_API_KEY: 'b'.repeat(64) }
async function found(yaml: object, env = withKey): Promise<string> {
  const dataDir = tempDir('doctor')
  const file = join(dataDir, 'gslbd.yaml')
  writeFileSync(file, JSON.stringify({ dataDir, ...yaml }))
  const settings = loadSettings({ file, env, flags: {} })
  if (!settings.ok) throw new Error(settings.error.join('\n'))
  const patient = { settings: settings.value, env, zones: [], patienceMs: 5_000 }
  const findings = await setup.look(patient)
  return findings
    .map(({ verdict, found: what, todo = '' }) => `${verdict}: ${what}; ${todo}`)
    .join()
}

test('the check warns until there is an account', async () => {
  const world = await createWorld(state())
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => world.app.close())
  const { port } = world.app.server.address() as AddressInfo
  const yaml = { api: { enabled: true, listenAddr: '0.0.0.0', port } }
  expect(await found(yaml)).toMatch(/^warning: there is no account yet, and setup is open; make it/)
  const body = { email: 'ann@example.com', password: 'correct horse' }
  expect((await world.call('POST', '/api/v1/auth/setup', { body })).status).toBe(201)
  expect(await found(yaml)).toBe('good: the first account has been made; ')
})

const nobody = { api: { enabled: true, port: 1 } }
test.each<[string, object, string, Record<string, string>?]>([
  ['that does not run', nobody, 'unknown: the node does not answer here'],
  ['that lets nobody', { ...nobody, auth: { setupEndpoint: false } }, 'good: setup is closed'],
  ['in dev mode', nobody, 'unknown: without GSLB_API_KEY', {}],
  ['without an API', { api: { enabled: false } }, 'good: this node has no accounts'],
])('a node %s', async (_what, yaml, part, env) => {
  expect(await found(yaml, env)).toContain(part)
})
