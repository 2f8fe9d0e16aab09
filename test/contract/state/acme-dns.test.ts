import { describe, expect, test } from 'vitest'
import { acmeDnsLimits } from '#state/ports/acme-dns.ts'
import { persistentAdapters, useState } from '#test/support/persistent-adapters.ts'
import { valueOf } from '#test/support/store-values.ts'

const accountOf = (name: string, allowFrom: readonly string[] = []) => ({
  ...{ username: `user-${name}`, passwordHash: 'ab'.repeat(32), subdomain: `sub-${name}` },
  ...{ allowFrom, createdAtMs: 2 ** 45 },
})

describe.each(persistentAdapters)('accounts of the acme-dns endpoint in %s', (_name, adapter) => {
  const state = useState(adapter)

  test('are found as they were made', async () => {
    const { acmeDns } = state()
    const [one, other] = [accountOf('a', ['192.0.2.0/24', '2001:db8::/32']), accountOf('b')]
    await valueOf(acmeDns.create(one, 10))
    await valueOf(acmeDns.create(other, 10))
    expect(await valueOf(acmeDns.find('user-a'))).toEqual(one)
    expect(await valueOf(acmeDns.find('user-b'))).toEqual(other)
    expect(await valueOf(acmeDns.find('user-c'))).toBeNull()
    const byName = (a: { username: string }, b: { username: string }) =>
      a.username < b.username ? -1 : 1
    expect((await valueOf(acmeDns.list())).toSorted(byName)).toEqual([one, other])
  })

  test('are gone once deleted, and others stay', async () => {
    const { acmeDns } = state()
    for (const name of ['a', 'b']) await valueOf(acmeDns.create(accountOf(name), 10))
    expect(await valueOf(acmeDns.delete('user-a'))).toBe(true)
    expect(await valueOf(acmeDns.delete('user-a'))).toBe(false)
    expect(await valueOf(acmeDns.list())).toEqual([accountOf('b')])
  })

  test('are as many as there may be', async () => {
    const { acmeDns, sql } = state()
    await valueOf(
      sql.repeatable(async (db) => {
        const rows = Array.from({ length: acmeDnsLimits.accountsMax - 1 }, (_, i) => ({
          ...{ username: `u${i}`, password_hash: '', subdomain: `s${i}`, allow_from: '[]' },
          created_at_ms: 1,
        }))
        for (let at = 0; at < rows.length; at += 1_000) {
          await db
            .insertInto('acme_dns_accounts')
            .values(rows.slice(at, at + 1_000))
            .execute()
        }
      }),
    )
    await valueOf(acmeDns.create(accountOf('last'), acmeDnsLimits.accountsMax))
    const more = await acmeDns.create(accountOf('one too many'), acmeDnsLimits.accountsMax)
    expect(more).toMatchObject({ error: { code: 'too-many-accounts' } })
  })
})
