// The audit log names the account of a call, and what the call did besides.
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createNodeAudit } from '#node/api/audit.ts'
import type { AuditEntry } from '#state/ports/audit.ts'
import { apiKey, createWorld } from '#test/support/api-world.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const [, adapter] = persistentAdapters[0]!
const state = useState(adapter)
const ann = { email: 'ann@example.com', password: 'correct horse' }
const bob = { email: 'bob@example.com', password: 'correct horse', role: 'viewer' }
const range = { scope: 'every-tenant', fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, limit: 9 } as const

async function calls() {
  const world = await createWorld(state())
  const post = async (path: string, body: object, bearer = '') => {
    const answer = await world.call('POST', `/api/v1${path}`, { body, bearer })
    return answer.body as { readonly id: string; readonly token: string }
  }
  const { id: annId } = await post('/auth/setup', ann)
  const { token } = await post('/auth/login', ann)
  const { id: bobId } = await post('/users', bob, token)
  const totp = { secretCiphertext: 'x', active: true, lastUsedStep: null }
  const enrolled = { totp, updatedAtMs: 1 }
  await valueOf(state().users.update('every-tenant', bobId, enrolled))
  world.ports.identities.forget()
  const body = { displayName: 'Bob' }
  for (const bearer of [token, apiKey]) {
    await world.call('PUT', `/api/v1/users/${bobId}`, { body, bearer })
  }
  await post('/auth/login', { ...ann, password: 'wrong' })
  return { audit: world.audit, annId, bobId }
}

test('the account by id and e-mail, of logins too, and a second factor that goes', async () => {
  const { audit, annId, bobId } = await calls()
  const user = { id: annId, email: ann.email }
  const said = audit.map(({ method, path, user: who, note }) => [`${method} ${path}`, who, note])
  expect(said).toEqual([
    ['POST /api/v1/auth/setup', user, undefined],
    ['POST /api/v1/auth/login', user, undefined],
    ['POST /api/v1/users', user, undefined],
    [`PUT /api/v1/users/${bobId}`, user, `the second factor of ${bobId} was cleared`],
    [`PUT /api/v1/users/${bobId}`, undefined, undefined],
    ['POST /api/v1/auth/login', undefined, undefined],
  ])
})

test.each([false, true])(
  'file and copy have the e-mail unless asked not to: %s',
  async (isHidden) => {
    const { audit, annId } = await calls()
    const file = join(tempDir('audit'), 'audit.log')
    const copied: AuditEntry[] = []
    const copy = {
      ...state().audit,
      append: async (all: readonly AuditEntry[]) => {
        copied.push(...all)
        return state().audit.append(all)
      },
    }
    const quiet = { info: () => {}, warn: () => {}, error: () => {}, always: () => {} }
    const opened = createNodeAudit(file, copy, quiet, isHidden)
    if (!opened.ok) throw new Error(opened.error)
    for (const entry of audit) opened.value.write(entry)
    await opened.value.close()
    const email = isHidden ? '' : ann.email
    const [line = ''] = readFileSync(file, 'utf8').split('\n')
    expect(JSON.parse(line)).toMatchObject({ user_id: annId, ...(isHidden ? {} : { user: email }) })
    expect(readFileSync(file, 'utf8').includes(ann.email)).toBe(!isHidden)
    expect(copied[0]?.user).toEqual({ id: annId, email })
    const { entries } = await valueOf(state().audit.query(range))
    expect(entries.find(({ note }) => note !== undefined)?.user).toEqual({ id: annId, email })
  },
)
