import { beforeEach, describe, expect, test } from 'vitest'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { codeOf, hostileTexts, newUser, valueOf } from '#test/support/store-values.ts'

const acme = { tenantId: 'acme' }
const other = { tenantId: 'other' }

describe.each(persistentAdapters)('accounts in %s', (_name, adapter) => {
  const state = useState(adapter)

  describe('users', () => {
    test('are found as they were created, by id and by e-mail in any case', async () => {
      const { users } = state()
      expect(await valueOf(users.hasAny())).toBe(false)
      const made = await valueOf(users.create(newUser('u1', { email: 'Ann@Example.com' })))
      expect(made).toEqual({
        ...newUser('u1', { email: 'Ann@Example.com' }),
        oidcIdentity: null,
        totp: null,
        updatedAtMs: 1_000,
      })
      expect(await valueOf(users.find('every-tenant', 'u1'))).toEqual(made)
      for (const email of ['ann@example.com', ' ANN@EXAMPLE.COM ', 'Ann@Example.com']) {
        expect(await valueOf(users.findByEmail(email))).toEqual(made)
      }
      expect(await valueOf(users.findByEmail('bob@example.com'))).toBeNull()
      expect(await valueOf(users.hasAny())).toBe(true)
    })

    test('an e-mail address is taken in any case, in every tenant', async () => {
      const { users } = state()
      await valueOf(users.create(newUser('u1', { email: 'ann@example.com' })))
      const again = newUser('u2', { email: 'ANN@example.com', tenantId: 'acme' })
      expect(await codeOf(users.create(again))).toBe('email-taken')
    })

    test('make one of many simultaneous first accounts', async () => {
      const { users } = state()
      const tries = Array.from({ length: 8 }, (_, i) =>
        users.createFirst(newUser(`u${i}`), 'all-time'),
      )
      const results = await Promise.all(tries)
      expect(results.filter(({ ok }) => ok)).toHaveLength(1)
      expect(await valueOf(users.list('every-tenant'))).toHaveLength(1)
      expect(await codeOf(users.createFirst(newUser('late'), 'all-time'))).toBe('not-first')
    })

    const waysIn: readonly [string, () => Promise<unknown>][] = [
      ['the first', () => valueOf(state().users.createFirst(newUser('u1'), 'all-time'))],
      [
        'the first of those left',
        () => valueOf(state().users.createFirst(newUser('u1'), 'those-left')),
      ],
      ['any other', () => valueOf(state().users.create(newUser('u1')))],
    ]
    test.each(waysIn)('that came as %s are remembered when they are gone', async (_way, come) => {
      const { users } = state()
      expect(await valueOf(users.hadAny())).toBe(false)
      await come()
      expect(await valueOf(users.delete('every-tenant', 'u1'))).toBe(true)
      expect([await valueOf(users.hasAny()), await valueOf(users.hadAny())]).toEqual([false, true])
      expect(await codeOf(users.createFirst(newUser('u2'), 'all-time'))).toBe('not-first')
      const again = users.createFirst(newUser('u3'), 'those-left')
      expect(await valueOf(again)).toMatchObject({ id: 'u3' })
      expect(await codeOf(users.createFirst(newUser('u4'), 'those-left'))).toBe('not-first')
    })

    test('that could not be made leave no mark', async () => {
      const { users } = state()
      const refused = await users.create(newUser('u1', { displayName: 'sec\0ret' }))
      expect([refused.ok, await valueOf(users.hadAny())]).toEqual([false, false])
    })

    test('are listed for one tenant, oldest first, and hidden from another', async () => {
      const { users } = state()
      await valueOf(users.create(newUser('b', { tenantId: 'acme', createdAtMs: 2_000 })))
      await valueOf(users.create(newUser('a', { tenantId: 'acme', createdAtMs: 3_000 })))
      await valueOf(users.create(newUser('c', { tenantId: 'other' })))
      const idsOf = async (scope: typeof acme | 'every-tenant'): Promise<string[]> =>
        (await valueOf(users.list(scope))).map(({ id }) => id)
      expect(await idsOf(acme)).toEqual(['b', 'a'])
      expect(await idsOf('every-tenant')).toEqual(['c', 'b', 'a'])
      expect(await valueOf(users.find(other, 'a'))).toBeNull()
      expect(await valueOf(users.update(other, 'a', { role: 'x', updatedAtMs: 9 }))).toBeNull()
      expect(await valueOf(users.delete(other, 'a'))).toBe(false)
      expect(await valueOf(users.find(acme, 'a'))).toMatchObject({ role: 'viewer' })
    })

    test('a change sets what it names and leaves the rest', async () => {
      const { users } = state()
      await valueOf(users.create(newUser('u1')))
      const totp = { secretCiphertext: 'sealed', active: true, lastUsedStep: null }
      await valueOf(users.update('every-tenant', 'u1', { totp, updatedAtMs: 2_000 }))
      const changed = await valueOf(
        users.update('every-tenant', 'u1', { displayName: 'Ann', role: 'op', updatedAtMs: 3_000 }),
      )
      expect(changed).toMatchObject({ displayName: 'Ann', role: 'op', totp, updatedAtMs: 3_000 })
      expect(changed?.passwordHash).toBe('$2b$12$hash')
      expect(await valueOf(users.totpCiphertexts(10))).toEqual(['sealed'])
      const cleared = { totp: null, passwordHash: null, updatedAtMs: 4_000 }
      expect(await valueOf(users.update('every-tenant', 'u1', cleared))).toMatchObject(cleared)
      expect(await valueOf(users.totpCiphertexts(10))).toEqual([])
      expect(await valueOf(users.delete('every-tenant', 'u1'))).toBe(true)
      expect(await valueOf(users.delete('every-tenant', 'u1'))).toBe(false)
    })

    describe('the last one of a role keeps it', () => {
      const kept = { tenantId: 'acme', role: 'admin' }
      const change = { role: 'viewer', updatedAtMs: 2_000 }
      beforeEach(async () => {
        const { users } = state()
        for (const [id, tenantId, role] of [
          ['u1', 'acme', 'admin'],
          ['u2', 'acme', 'admin'],
          ['v1', 'acme', 'viewer'],
          ['u3', 'other', 'admin'],
        ] as const) {
          await valueOf(users.create(newUser(id, { tenantId, role })))
        }
      })
      const give = (id: string) => state().users.updateUnlessLast(acme, id, change, kept)
      const remove = (id: string) => state().users.deleteUnlessLast('every-tenant', id, kept)
      const admins = async () =>
        (await valueOf(state().users.list(acme))).filter(({ role }) => role === 'admin').length

      test.each([
        ['give it up', give, give],
        ['are deleted', remove, remove],
        ['lose it so and so', give, remove],
      ])('when two are changed at once: %s', async (_what, first, second) => {
        const both = await Promise.all([first('u1'), second('u2')])
        const codes = both.map((result) => (result.ok ? 'done' : result.error.code))
        expect(codes.toSorted()).toEqual(['done', 'last-of-role'])
        expect(await admins()).toBe(1)
        const left = codes[0] === 'done' ? 'u2' : 'u1'
        expect([await codeOf(give(left)), await codeOf(remove(left))]).toEqual([
          'last-of-role',
          'last-of-role',
        ])
      })

      test('and hinders no other account', async () => {
        const { users } = state()
        await valueOf(users.delete(acme, 'u2'))
        expect(await valueOf(give('v1'))).toMatchObject({ role: 'viewer', updatedAtMs: 2_000 })
        expect(await valueOf(give('u3'))).toBeNull()
        expect(await valueOf(users.deleteUnlessLast(acme, 'u3', kept))).toBe(false)
        expect(await valueOf(remove('v1'))).toBe(true)
        expect(await valueOf(remove('u3'))).toBe(true)
        expect(await admins()).toBe(1)
      })
    })

    test('a step of a second factor is good once, also for two logins at once', async () => {
      const { users } = state()
      await valueOf(users.create(newUser('u1')))
      expect(await valueOf(users.useTotpStep('u1', 5))).toBe(false)
      const totp = { secretCiphertext: 'sealed', active: true, lastUsedStep: 3 }
      await valueOf(users.update('every-tenant', 'u1', { totp, updatedAtMs: 2_000 }))
      const both = await Promise.all([
        valueOf(users.useTotpStep('u1', 5)),
        valueOf(users.useTotpStep('u1', 5)),
      ])
      expect(both.sort()).toEqual([false, true])
      expect(await valueOf(users.useTotpStep('u1', 4))).toBe(false)
      expect(await valueOf(users.useTotpStep('u1', 6))).toBe(true)
      expect(await valueOf(users.useTotpStep('nobody', 6))).toBe(false)
    })

    test('an account is the first identity that claims it, also for two at once', async () => {
      const { users } = state()
      expect(await valueOf(users.create(newUser('u1')))).toMatchObject({ oidcIdentity: null })
      const both = await Promise.all([
        valueOf(users.claimForOidc('u1', 'https://idp.test a')),
        valueOf(users.claimForOidc('u1', 'https://idp.test b')),
      ])
      expect(both.toSorted()).toEqual([false, true])
      const claimed = (await valueOf(users.find('every-tenant', 'u1')))?.oidcIdentity ?? ''
      expect(await valueOf(users.claimForOidc('u1', claimed))).toBe(true)
      expect(await valueOf(users.claimForOidc('u1', 'https://idp.test c'))).toBe(false)
      expect(await valueOf(users.claimForOidc('nobody', claimed))).toBe(false)
      const oidcIdentity = 'https://idp.test d'
      const made = await valueOf(users.create(newUser('u2', { oidcIdentity })))
      expect(made).toMatchObject({ oidcIdentity })
    })

    test.each(hostileTexts)('text is text, whatever is in it: %j', async (text) => {
      const { users } = state()
      const user = newUser('u1', { displayName: text, role: text, tenantId: text })
      await valueOf(users.create({ ...user, email: text }))
      const found = await valueOf(users.find({ tenantId: text }, 'u1'))
      expect(found).toMatchObject({ displayName: text, role: text, tenantId: text })
      expect(await valueOf(users.findByEmail(text))).toEqual(found)
      expect(await valueOf(users.find('every-tenant', text))).toBeNull()
    })

    test('a NUL is refused, in a sentence without the value', async () => {
      const { users } = state()
      const result = await users.create(newUser('u1', { displayName: 'sec\0ret' }))
      expect(result).toMatchObject({ ok: false, error: { code: 'store-refused' } })
      expect(JSON.stringify(result)).not.toContain('ret"')
      expect(await valueOf(users.hasAny())).toBe(false)
    })
  })

  describe('roles', () => {
    const system = [
      { name: 'operator', permissions: ['pool:write', 'pool:read'] },
      { name: 'viewer', permissions: ['pool:read'] },
    ]
    const auditor = { id: 'r1', name: 'auditor', tenantId: 'acme', createdAtMs: 1_000 }

    test('built-in ones are made once, and seen by every tenant', async () => {
      const { roles } = state()
      await valueOf(roles.ensureSystem(system, 1_000))
      await valueOf(roles.ensureSystem(system, 2_000))
      expect(await valueOf(roles.list(acme))).toEqual([
        {
          id: 'operator',
          name: 'operator',
          permissions: ['pool:read', 'pool:write'],
          isSystem: true,
          tenantId: null,
          createdAtMs: 1_000,
          updatedAtMs: 1_000,
        },
        expect.objectContaining({ id: 'viewer', tenantId: null }),
      ])
      expect(await valueOf(roles.findByName('acme', 'viewer'))).toMatchObject({ isSystem: true })
    })

    test('an upgrade adds new atoms; what people added or took away stays so', async () => {
      const { roles } = state()
      await valueOf(roles.ensureSystem(system, 1_000))
      await valueOf(roles.setPermissions('every-tenant', 'operator', ['pool:read', 'x:y'], 2_000))
      const upgraded = [{ name: 'operator', permissions: ['pool:read', 'pool:write', 'new:read'] }]
      await valueOf(roles.ensureSystem(upgraded, 3_000))
      const role = await valueOf(roles.find(acme, 'operator'))
      expect(role?.permissions).toEqual(['new:read', 'pool:read', 'x:y'])
    })

    test("a tenant's own role is its own", async () => {
      const { roles } = state()
      await valueOf(roles.ensureSystem(system, 1_000))
      const permissions = ['usage:read_own', 'pool:read', 'pool:read']
      const made = await valueOf(roles.create({ ...auditor, permissions }))
      expect(made.permissions).toEqual(['pool:read', 'usage:read_own'])
      expect(await valueOf(roles.find(other, 'r1'))).toBeNull()
      expect(await valueOf(roles.findByName('other', 'auditor'))).toBeNull()
      expect(await valueOf(roles.setPermissions(other, 'r1', [], 2_000))).toBeNull()
      expect(await valueOf(roles.setPermissions(acme, 'operator', [], 2_000))).toBeNull()
      expect(await valueOf(roles.delete(other, 'r1'))).toBe(false)
      const changed = await valueOf(roles.setPermissions(acme, 'r1', ['pool:read'], 2_000))
      expect(changed).toEqual({ ...made, permissions: ['pool:read'], updatedAtMs: 2_000 })
      expect((await valueOf(roles.list(acme))).map(({ name }) => name)).toEqual([
        'operator',
        'viewer',
        'auditor',
      ])
      expect(await valueOf(roles.delete(acme, 'r1'))).toBe(true)
    })

    test('a name is taken by a built-in role or by one of the tenant', async () => {
      const { roles } = state()
      await valueOf(roles.ensureSystem(system, 1_000))
      const role = { ...auditor, permissions: [] }
      expect(await codeOf(roles.create({ ...role, name: 'viewer' }))).toBe('name-taken')
      await valueOf(roles.create(role))
      expect(await codeOf(roles.create({ ...role, id: 'r2' }))).toBe('name-taken')
      await valueOf(roles.create({ ...role, id: 'r3', tenantId: 'other' }))
    })

    test('a built-in role, or one that a user has, is not deleted', async () => {
      const { roles, users } = state()
      await valueOf(roles.ensureSystem(system, 1_000))
      await valueOf(roles.create({ ...auditor, permissions: [] }))
      await valueOf(users.create(newUser('u1', { tenantId: 'acme', role: 'auditor' })))
      expect(await codeOf(roles.delete(acme, 'viewer'))).toBe('system-role')
      expect(await codeOf(roles.delete(acme, 'r1'))).toBe('role-in-use')
      await valueOf(users.delete(acme, 'u1'))
      expect(await valueOf(roles.delete(acme, 'r1'))).toBe(true)
      expect(await valueOf(roles.delete(acme, 'r1'))).toBe(false)
    })
  })

  describe('tenant keys', () => {
    const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]

    test('lead from the hash to the tenant until they are replaced or removed', async () => {
      const { tenantKeys } = state()
      await valueOf(tenantKeys.put('acme', a, 1_000))
      expect(await valueOf(tenantKeys.findTenant(a))).toBe('acme')
      await valueOf(tenantKeys.put('acme', b, 2_000))
      expect(await valueOf(tenantKeys.findTenant(a))).toBeNull()
      expect(await valueOf(tenantKeys.findTenant(b))).toBe('acme')
      expect(await codeOf(tenantKeys.put('other', b, 3_000))).toBe('hash-taken')
      expect(await valueOf(tenantKeys.remove('acme'))).toBe(true)
      expect(await valueOf(tenantKeys.remove('acme'))).toBe(false)
      expect(await valueOf(tenantKeys.findTenant(b))).toBeNull()
    })
  })
})
