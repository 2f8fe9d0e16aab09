// Values for tests of stores, and the results of their calls.
import { expect } from 'vitest'
import type { Result } from '#lib/result.ts'
import type { AuditEntry } from '#state/ports/audit.ts'
import type { NewUser } from '#state/ports/users.ts'

/** @throws with the sentence of a failed call */
export async function valueOf<T>(
  call: Promise<Result<T, { readonly code: string; readonly message: string }>>,
): Promise<T> {
  const result = await call
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`)
  return result.value
}

/** The code of a call that must fail. */
export async function codeOf<Code extends string>(
  call: Promise<Result<unknown, { readonly code: Code; readonly message: string }>>,
): Promise<Code> {
  const result = await call
  expect(result).toMatchObject({ ok: false })
  return (result as { error: { code: Code } }).error.code
}

export function newUser(id: string, parts: Partial<NewUser> = {}): NewUser {
  return {
    id,
    email: `${id}@example.com`,
    displayName: `User ${id}`,
    role: 'viewer',
    tenantId: 'default',
    authProvider: 'password',
    passwordHash: '$2b$12$hash',
    createdAtMs: 1_000,
    ...parts,
  }
}

export function auditEntry(id: string, parts: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id,
    atMs: 1_000,
    method: 'POST',
    path: '/api/v1/pools',
    actor: 'c0de',
    remote: '192.0.2.1',
    status: 201,
    durationMs: 12.5,
    tenantId: 'default',
    requestId: null,
    ...parts,
  }
}

/** Text that an SQL statement built from strings would execute. */
export const hostileTexts: readonly string[] = [
  `'; drop table users; --`,
  `" or ""="`,
  `$1`,
  `\\'; select pg_sleep(9); --`,
  `%_*`,
  'ünï 🚦 \u202e',
  `${'x'.repeat(10_000)}`,
]
