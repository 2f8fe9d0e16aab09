// The Git side compiles for what its node allows.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { strictPolicy } from '#compiler/values/health-check-policy.ts'
import { checkPolicyOfNode } from '#cli/files/check-policy.ts'
import { readConfigDirectory } from '#cli/files/config-directory.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/diagnostics')

test.each([
  ['health-check-script-disabled', { allowScriptChecks: true, webhookAllowedHosts: [] }],
  [
    'health-check-webhook-internal',
    { allowScriptChecks: false, webhookAllowedHosts: ['0.0.0.0/0', '::/0'] },
  ],
  ['health-check-certificate-unknown', { clientCertificates: ['nobody'] }],
])('%s stops a commit, unless the node allows it', (code, policy) => {
  const files = readConfigDirectory(join(fixtures, code))
  if (!files.ok) throw new Error(files.error)
  const refused = createCompilePort().compile(files.value, 'c0ffee')
  expect([refused.ok, refused.diagnostics[0]?.code]).toEqual([false, code])
  const allowing = createCompilePort({ ...strictPolicy, ...policy })
  expect(allowing.compile(files.value, 'c0ffee').ok).toBe(true)
})

test('a node that runs no scripts takes the commit, and says what it leaves out', () => {
  const files = readConfigDirectory(join(fixtures, 'health-check-script-disabled'))
  if (!files.ok) throw new Error(files.error)
  const health = { allowScriptChecks: false, webhookAllowedHosts: [], clientCertificates: {} }
  const taken = createCompilePort(checkPolicyOfNode(health)).compile(files.value, 'c0ffee')
  const said = taken.diagnostics.map(({ code, severity }) => [code, severity])
  expect([taken.ok, said]).toEqual([true, [['health-check-script-ignored', 'warning']]])
})

test('a tenant may use the client certificates that the node gives it', () => {
  const files = readConfigDirectory(join(fixtures, 'health-check-certificate-unknown'))
  if (!files.ok) throw new Error(files.error)
  const isTaken = (tenants?: readonly string[]): boolean => {
    const certificate = tenants === undefined ? {} : { tenants }
    const health = { allowScriptChecks: false, webhookAllowedHosts: [] }
    const policy = checkPolicyOfNode({ ...health, clientCertificates: { nobody: certificate } })
    return createCompilePort(policy).compile(files.value, 'c0ffee').ok
  }
  expect([isTaken(), isTaken(['acme', 'default']), isTaken(['acme']), isTaken([])]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test.each([
  ['answer-count-of-one', 'note'],
  ['geo-ip-one-region', 'warning'],
  ['domain-duplicate', 'error'],
])('%s stays what it is: %s', (code, severity) => {
  const files = readConfigDirectory(join(fixtures, code))
  if (!files.ok) throw new Error(files.error)
  const { diagnostics } = createCompilePort().compile(files.value, 'c0ffee')
  expect(diagnostics.find((one) => one.code === code)?.severity).toBe(severity)
})

test('what to write is said once: as the help, or as what was probably meant', () => {
  const files = readConfigDirectory(join(fixtures, 'name-not-absolute'))
  if (!files.ok) throw new Error(files.error)
  const { diagnostics } = createCompilePort().compile(files.value, 'c0ffee')
  const found = diagnostics.find(({ code }) => code === 'name-not-absolute')
  expect(found?.help).toMatch(/^write \S+\.$/)
  expect(found?.text).not.toContain('did you mean')
})
