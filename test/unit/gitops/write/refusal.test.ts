// Tests the answer to a write that does not compile, however many findings the compiler has.
import assert from 'node:assert/strict'
import { onTestFinished, test } from 'vitest'
import { gitLimits } from '#gitops/limits.ts'
import { gitSandbox } from '#test/support/git-sandbox.ts'
import { newPem, seedOrigin, settingsYaml, startWriteScene } from '#test/support/write-scene.ts'

test('the fault of a write is named, though many warnings stand before its own', async () => {
  const options = { dataDir: gitSandbox().at('data'), pem: newPem() }
  const files: Record<string, string> = { 'gslb.yaml': settingsYaml }
  const strays = gitLimits.diagnosticsMax + 1
  for (let index = 0; index < strays; index++) files[`stray/${index}.yaml`] = 'a: 1\n'
  await seedOrigin(options, files)
  const at = await startWriteScene(options)
  onTestFinished(() => at.stop())
  assert.equal(at.status().diagnosticsTotal, strays)
  const healthCheck = { type: 'webhook', webhookURL: 'http://2130706433/' }
  const members = [{ ipAddress: '192.0.2.99', port: 80 }]
  const spec = { members, healthCheck }
  const refused = await at.write({
    verb: 'create',
    kind: 'Pool',
    tenant: 'default',
    name: 'w',
    spec,
  })
  assert(!refused.ok)
  const { code, message, diagnostics } = refused.error
  assert.deepEqual(
    [code, diagnostics.map((one) => [one.code, one.file])],
    ['invalid', [['health-check-webhook-internal', 'tenants/default/pools/w.yaml']]],
  )
  assert.match(message, /127\.0\.0\.1/)
})
