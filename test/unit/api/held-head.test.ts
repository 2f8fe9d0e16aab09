// A commit that blocks every write: what each caller is told of it.
import { expect, test } from 'vitest'
import type { Caller } from '#access/caller.ts'
import { refusalOf } from '#api/config/writes.ts'
import type { WriteFailure } from '#config/operation.ts'

const at = (tenant: string) => ({
  ...{ code: 'pool-unknown', message: 'there is no pool', help: '', field: '' },
  ...{ file: `tenants/${tenant}/services/www.yaml`, line: 7 },
})
const failure: WriteFailure = {
  code: 'head-invalid',
  message: 'Commit c0ffee has 2 errors in its configuration. Correct them in a new commit.',
  operation: -1,
  diagnostics: [at('acme'), at('other')],
}
const callerOf = (tenant: string, isSystemAdmin: boolean): Caller => ({
  ...{ kind: 'user', tenant, userId: 'u', role: 'operator', permissions: new Set() },
  ...{ isSystemAdmin, sessionHash: null, keyHash: null },
})

test('a tenant is told whom to ask, with the faults of its own files alone', () => {
  const { status, body } = refusalOf(failure, callerOf('acme', false), 'r1')
  const said = body as { error: string; diagnostics: { file: string }[] }
  expect(status).toBe(409)
  expect(said.error).toMatch(/held.*Tell an administrator of the repository/)
  expect(said.error).not.toMatch(/c0ffee|Correct/)
  expect(said.diagnostics.map(({ file }) => file)).toEqual(['tenants/acme/services/www.yaml'])
})

test('a system administrator is told what to do', () => {
  const { body } = refusalOf(failure, callerOf('default', true), 'r1')
  expect(body).toMatchObject({ error: failure.message, diagnostics: failure.diagnostics })
})

const failures: readonly (readonly [WriteFailure['code'], outcome: RegExp])[] = [
  ['not-trusted', /nothing was changed/],
  ['unreachable', /nothing was changed/],
  ['uncertain', /not known whether the change was made/],
  ['internal', /not known whether the change was made/],
]
test.each(failures)('refusing a write that is %s shows a tenant no internals', (code, outcome) => {
  const message = 'its key SHA256:abc is not in /var/lib/gslbd/allowed_signers: gslbd trust add …'
  const one: WriteFailure = { code, message, operation: -1, diagnostics: [] }
  const { status, body } = refusalOf(one, callerOf('acme', false), 'r1')
  const { error } = body as { error: string }
  expect(status).toBe(code === 'not-trusted' ? 409 : 500)
  expect(error).toMatch(outcome)
  expect(error).toMatch(/by request r1\.$/)
  expect(error).not.toMatch(/SHA256|\/var|gslbd/)
  expect(refusalOf(one, callerOf('default', true), 'r1').body).toEqual({ error: message })
})
