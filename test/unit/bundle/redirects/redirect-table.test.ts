// Redirects in a bundle: what comes back, which one answers for a host, what the loader refuses.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redirectsOf } from '#bundle/format/bundle.ts'
import type { BundleColumns } from '#bundle/format/bundle.ts'
import { loadBundle } from '#bundle/load/load.ts'
import { findRedirect, RedirectBits, RedirectCell } from '#bundle/redirects/redirect-table.ts'
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'
import { bundleOf, encode, smallModel } from '#test/support/bundle-models.ts'
import { withElement } from '#test/support/damaged-bundle.ts'
import { arbitraryHost, arbitraryRedirects, redirect } from '#test/support/redirects.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const byUid = (a: RedirectModel, b: RedirectModel): number => (a.uid < b.uid ? -1 : 1)

test('redirects come back from the bundle, in the order of their uids', () => {
  fc.assert(
    fc.property(arbitraryRedirects, (redirects) => {
      expect(redirectsOf(bundleOf({ ...smallModel, redirects }))).toEqual(redirects.toSorted(byUid))
    }),
  )
})

test('the order in the model does not matter, nor what was encoded before', () => {
  fc.assert(
    fc.property(arbitraryRedirects, (redirects) => {
      const other = encode({ ...smallModel, redirects: redirects.toReversed() })
      expect(other.digest).toBe(encode({ ...smallModel, redirects }).digest)
    }),
  )
})

test('the redirect of a host is its own, else the deepest wildcard above it', () => {
  fc.assert(
    fc.property(arbitraryRedirects, arbitraryHost, (redirects, host) => {
      const sorted = redirects.toSorted(byUid)
      const above = sorted.filter((one) => one.isWildcard && host.endsWith(`.${one.host}`))
      const deepest = above.toSorted((a, b) => b.host.length - a.host.length)[0]
      const own = sorted.find((one) => !one.isWildcard && one.host === host)
      const expected = own ?? deepest
      const bundle = bundleOf({ ...smallModel, redirects })
      expect(findRedirect(bundle, wireName(host))).toBe(
        expected === undefined ? -1 : sorted.indexOf(expected),
      )
    }),
  )
})

test('each of ten thousand redirects is found', () => {
  const redirects = Array.from({ length: 10_000 }, (_, i) =>
    redirect(i, `${i % 2 === 0 ? '' : '*.'}h${i}.old.example`, 'https://new.example/'),
  )
  const bundle = bundleOf({ ...smallModel, redirects })
  const found = redirects.map(({ host, isWildcard }) =>
    findRedirect(bundle, wireName(isWildcard ? `x.${host}` : host)),
  )
  expect(found).toEqual(redirects.map((_, i) => i))
})

test('two redirects of one host are a mistake of the compiler', () => {
  const twice = [redirect(1, 'a.test', 'http://b.test'), redirect(2, 'a.test', 'http://c.test')]
  expect(() => encode({ ...smallModel, redirects: twice })).toThrow('there is one redirect for')
})

describe('columns are refused whose digests fit but', () => {
  const { bytes } = encode({
    ...smallModel,
    redirects: [
      redirect(1, 'a.test', 'https://b.test/'),
      redirect(2, '*.c.test', 'http://d.test', { tenant: 'acme' }),
    ],
  })
  const cell = (row: number, at: number): number => row * RedirectCell.Words + at
  const hostBytes = 'a.test.'.length + 1
  const odd = 2 ** 32 - 1
  const rows: readonly [keyof BundleColumns, index: number, value: number, fault: string][] = [
    ['redirectRow', cell(0, RedirectCell.Host), odd, 'redirect 0 has no host'],
    ['redirectRow', cell(0, RedirectCell.Host), 1, 'redirect 0 has no host'],
    ['redirectRow', cell(0, RedirectCell.Bits), 0, 'redirect 0 has no host'],
    ['redirectRow', cell(0, RedirectCell.Bits), hostBytes - 1, 'redirect 0 has no host'],
    ['redirectRow', cell(0, RedirectCell.Bits), hostBytes | (4 << 11), 'has no such status'],
    [
      'redirectRow',
      cell(0, RedirectCell.Bits),
      hostBytes | RedirectBits.Wildcard,
      'other wildcard redirects',
    ],
    ['redirectRow', cell(0, RedirectCell.Target), odd, 'redirect 0 has no target'],
    ['redirectRow', cell(0, RedirectCell.TargetBytes), odd, 'redirect 0 has no target'],
    ['redirectRow', cell(0, RedirectCell.TargetBytes), 8, 'that is no address'],
    ['redirectRow', cell(1, RedirectCell.Target), 0, 'that is no address'],
    ['redirectRow', cell(1, RedirectCell.Tenant), odd, 'redirect 1 has no tenant'],
    ['redirectRow', cell(1, RedirectCell.HstsSeconds), odd, 'for too long'],
    ['redirectText', 1, 0x41, 'redirect 0 has no host'],
    ['redirectText', 1, 0x62, 'redirect 0 has another hash'],
    ['redirectText', hostBytes + 9, 0x0a, 'that is no address'],
    ['redirectText', hostBytes + 9, 0xe4, 'that is no address'],
    ['redirectIndex', -1, 2, 'other wildcard redirects'],
    ['redirectIndex', -2, 77, 'redirect'],
  ]
  test.each(rows)('%s %i is %i', (name, index, value, fault) => {
    const loaded = loadBundle(withElement(bytes, name, index, value))
    expect(loaded.ok ? 'loaded' : loaded.error.message).toContain(fault)
  })

  test('the index holds one twice, none, or one under another hash', () => {
    const loaded = loadBundle(bytes)
    if (!loaded.ok) throw new Error(loaded.error.message)
    const taken = loaded.value.redirectIndex.findIndex((value, i) => i % 2 === 1 && value === 1)
    const refused = (index: number, value: number): string => {
      const other = loadBundle(withElement(bytes, 'redirectIndex', index, value))
      return other.ok ? 'loaded' : other.error.message
    }
    expect(refused(taken, 2)).toContain('not in the index')
    expect(refused(taken, 0)).toContain('twice or not at all')
    expect(refused(taken, 3)).toContain('outside its table')
    expect(refused(taken - 1, 77)).toContain('has another hash')
  })
})
