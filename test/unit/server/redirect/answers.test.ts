// Tests the answer to a request, by its Host header and its target.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RedirectModel } from '#bundle/redirects/redirect-table.ts'
import { RedirectAnswers } from '#server/redirect/answers.ts'
import { HostFault, readHost } from '#server/redirect/request-host.ts'
import { formatName } from '#dns/name.ts'
import { bundleOf, smallModel } from '#test/support/bundle-models.ts'
import { redirect } from '#test/support/redirects.ts'
import { anyText } from '#test/support/any-text.ts'

function answersOf(...redirects: readonly RedirectModel[]): RedirectAnswers {
  const answers = new RedirectAnswers()
  answers.adopt(bundleOf({ ...smallModel, redirects }))
  return answers
}

describe('a Host header', () => {
  const label = 'l'.repeat(63)
  const rows: readonly [header: string, means: string | number][] = [
    ['old.example', 'old.example.'],
    ['OLD.Example', 'old.example.'],
    ['old.example.', 'old.example.'],
    ['old.example:80', 'old.example.'],
    ['old.example.:8080', 'old.example.'],
    ['old.example:', 'old.example.'],
    ['_x-1.old.example', '_x-1.old.example.'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example.'],
    ['192.0.2.1:80', '192.0.2.1.'],
    [`${label}.example`, `${label}.example.`],
    ['', HostFault.None],
    ['.', HostFault.None],
    ['..', HostFault.None],
    ['.old.example', HostFault.None],
    ['old..example', HostFault.None],
    ['old.example..', HostFault.None],
    [`l${label}.example`, HostFault.None],
    [`${`${label}.`.repeat(3)}${'l'.repeat(62)}`, HostFault.None],
    ['[::1]', HostFault.None],
    ['[2001:db8::1]:8080', HostFault.None],
    ['b%C3%BCcher.example', HostFault.None],
    ['a,b', HostFault.None],
    ['old.example:80:80', HostFault.Malformed],
    ['old.example:http', HostFault.Malformed],
    ['old.example:123456', HostFault.Malformed],
    ['old.example, other.example', HostFault.Malformed],
    ['user@old.example', HostFault.Malformed],
    ['http://old.example', HostFault.Malformed],
    ['old.example/x', HostFault.Malformed],
    ['old example', HostFault.Malformed],
    ['b\u00fccher.example', HostFault.Malformed],
    ['[::1', HostFault.Malformed],
    ['[x]', HostFault.Malformed],
    ['[::1]x', HostFault.Malformed],
    [`${'x.'.repeat(5_000)}example`, HostFault.Malformed],
  ]
  test.each(rows)('%j', (header, means) => {
    const name = new Uint8Array(256)
    const length = readHost(header, name)
    if (typeof means === 'number') expect(length).toBe(means)
    else expect([formatName(name.slice(0, length)), length]).toEqual([means, means.length + 1])
  })

  test('with any octets leaves a name that fits, or none', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 300 }), (header) => {
        const name = new Uint8Array(256)
        const length = readHost(header, name)
        expect(length).toBeLessThanOrEqual(255)
        if (length > 0) expect(formatName(name.slice(0, length)).length).toBe(length - 1)
      }),
      { numRuns: 30 },
    )
  })
})

describe('a location', () => {
  const base = 'https://new.example'
  const rows: readonly [target: string, keeps: boolean, path: string, location: string][] = [
    [base, true, '/', base],
    [`${base}/`, true, '/', `${base}/`],
    [base, true, '/a?b=c', `${base}/a?b=c`],
    [`${base}/`, true, '/a', `${base}/a`],
    [`${base}/base/`, true, '/a', `${base}/base/a`],
    [`${base}/base`, true, '/a', `${base}/base/a`],
    [base, true, '/?a', `${base}/?a`],
    [base, true, '//evil.example', `${base}//evil.example`],
    [base, true, '/a b', `${base}/a%20b`],
    [base, true, '/\u00e4"<>\\^`{|}', `${base}/%E4%22%3C%3E%5C%5E%60%7B%7C%7D`],
    [base, true, '/%41;a=b,c!$&()*+@:[]~', `${base}/%41;a=b,c!$&()*+@:[]~`],
    [base, true, '*', base],
    [base, true, 'http://other.example/x?y', `${base}/x?y`],
    [`${base}/only?x=1`, false, '/a?b', `${base}/only?x=1`],
    [`${base}/`, false, '/', `${base}/`],
  ]
  test.each(rows)('for %s, path kept: %s, asked for %s', (target, preservePath, path, is) => {
    const answers = answersOf(
      redirect(1, 'old.example', target, { preservePath }),
      redirect(2, 'other.example', target, { preservePath }),
    )
    expect(answers.answer('old.example', path)).toMatchObject({ status: 301, location: is })
  })
})

test('the redirect says the status and what browsers shall remember', () => {
  const answers = answersOf(
    redirect(1, 'a.test', 'http://n.test', { code: 308, hstsSeconds: 60 }),
    redirect(2, '*.a.test', 'http://w.test', {
      code: 307,
      hstsSeconds: 60,
      hstsIncludeSubDomains: true,
    }),
  )
  const kept = (host: string) => ({ ...answers.answer(host, '/') })
  expect(kept('a.test')).toEqual({
    status: 308,
    location: 'http://n.test',
    hsts: 'max-age=60',
    row: 0,
  })
  expect(kept('x.y.a.test')).toMatchObject({
    status: 307,
    hsts: 'max-age=60; includeSubDomains',
    row: 1,
  })
  expect(kept('test')).toEqual({ status: 404, location: '', hsts: '', row: -1 })
})

test.each([
  ['a.test', 'x', 400],
  ['a.test', '', 400],
  ['a.test', 'ftp://a.test/', 400],
  ['a.test', 'http://user@a.test/', 400],
  ['a b', '/', 400],
  ['b.test', '/', 404],
  ['[::1]', '/', 404],
  [undefined, '/', 404],
  // The whole address says whose it is (RFC 9112 section 3.2.2).
  ['b.test', 'http://A.test./', 301],
  ['a.test', 'https://b.test/', 404],
])('host %s, target %s: %i', (host, target, status) => {
  const answers = answersOf(redirect(1, 'a.test', 'http://n.test'))
  expect(answers.answer(host, target).status).toBe(status)
})

test('before there are redirects the answer is 503', () => {
  expect(new RedirectAnswers().answer('a.test', '/').status).toBe(503)
})

test('the location has only octets that a header may have, for any request', () => {
  const answers = answersOf(redirect(1, 'a.test', 'http://n.test/'))
  fc.assert(
    fc.property(anyText({ maxLength: 60 }), (path) => {
      expect(answers.answer('a.test', `/${path}`).location).toMatch(/^http:\/\/n\.test\/[!-~]*$/)
    }),
  )
})
