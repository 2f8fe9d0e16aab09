// The Git side compiles for what its node allows.
import { expect, test } from 'vitest'
import { strictPolicy } from '#compiler/values/health-check-policy.ts'
import { checkPolicyOfNode } from '#settings/check-policy.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { createCompilePort } from '#gitops/sync/compile-adapter.ts'
import { diagnosticCase, sourcesOf } from '#test/support/case-file.ts'

const filesOf = (code: string): readonly SourceFile[] => sourcesOf(diagnosticCase(code))

test.each([
  ['health-check-script-disabled', { allowScriptChecks: true, webhookAllowedHosts: [] }],
  [
    'health-check-webhook-internal',
    { allowScriptChecks: false, webhookAllowedHosts: ['0.0.0.0/0', '::/0'] },
  ],
  ['health-check-certificate-unknown', { clientCertificates: ['nobody'] }],
])('%s stops a commit, unless the node allows it', (code, policy) => {
  const files = filesOf(code)
  const refused = createCompilePort().compile(files, 'c0ffee')
  expect([refused.ok, refused.diagnostics[0]?.code]).toEqual([false, code])
  const allowing = createCompilePort({ ...strictPolicy, ...policy })
  expect(allowing.compile(files, 'c0ffee').ok).toBe(true)
})

test('a node that runs no scripts takes the commit, and says what it leaves out', () => {
  const files = filesOf('health-check-script-disabled')
  const health = { allowScriptChecks: false, webhookAllowedHosts: [], clientCertificates: {} }
  const taken = createCompilePort(checkPolicyOfNode(health)).compile(files, 'c0ffee')
  const said = taken.diagnostics.map(({ code, severity }) => [code, severity])
  expect([taken.ok, said]).toEqual([true, [['health-check-script-ignored', 'warning']]])
})

test('a tenant may use the client certificates that the node gives it', () => {
  const files = filesOf('health-check-certificate-unknown')
  const isTaken = (tenants?: string[]): boolean => {
    const certificate = tenants === undefined ? {} : { tenants }
    const health = { allowScriptChecks: false, webhookAllowedHosts: [] }
    const policy = checkPolicyOfNode({ ...health, clientCertificates: { nobody: certificate } })
    return createCompilePort(policy).compile(files, 'c0ffee').ok
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
  const files = filesOf(code)
  const { diagnostics } = createCompilePort().compile(files, 'c0ffee')
  expect(diagnostics.find((one) => one.code === code)?.severity).toBe(severity)
})

test('a remedy is given once: as the help or as a suggestion', () => {
  const files = filesOf('name-not-absolute')
  const { diagnostics } = createCompilePort().compile(files, 'c0ffee')
  const found = diagnostics.find(({ code }) => code === 'name-not-absolute')
  expect(found?.help).toMatch(/^write \S+\.$/)
  expect(found?.text).not.toContain('did you mean')
})
