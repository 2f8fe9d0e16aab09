// Redirects and delegated domains: checked to the last field.
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { helpOf, messageOf } from '#diagnostics/diagnostics.ts'
import { sourceFile } from './fixture.ts'

type Files = Readonly<Record<string, string>>
const object = (kind: string, name: string, spec: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: { ${spec} }\n`
const redirect = (spec: string, name = 'old'): string => object('Redirect', name, spec)
const source = 'sourceFqdn: old.example.com'
const to = (url: string): string => redirect(`${source}, targetUrl: ${JSON.stringify(url)}`)

const diagnosticsOf = (files: Files) => {
  const all = { 'gslb.yaml': object('Settings', 'settings', ''), ...files }
  const sources = Object.entries(all).map(([path, text]) => sourceFile(path, text))
  return createCompiler().compile(sources, { commit: '' }).diagnostics
}
const codesOf = (files: Files): string[] => diagnosticsOf(files).map(({ code }) => code)
const inDefault = (text: string): string[] => codesOf({ 'tenants/default/x.yaml': text })

describe('a target', () => {
  const rows: readonly [url: string, codes: string[]][] = [
    ['https://www.example.com/', []],
    ['HTTP://www.example.com:8080/a%20b', []],
    ['https://xn--bcher-kva.example/', []],
    ['https://[2001:db8::1]/', []],
    ['http://old.example.com/new', ['redirect-to-itself']],
    ['http://OLD.example.com./new', ['redirect-to-itself']],
    ['http://old.example.com:80/', ['redirect-to-itself']],
    ['http://old.example.com:8080/', []],
    ['https://old.example.com/', ['redirect-loop-https']],
    ['www.example.com', ['redirect-target-not-url']],
    ['//www.example.com/', ['redirect-target-not-url']],
    ['/new', ['redirect-target-not-url']],
    ['https:/www.example.com', ['redirect-target-not-url']],
    ['https:///www.example.com', ['redirect-target-not-url']],
    ['https://', ['redirect-target-not-url']],
    ['https://www.example.com:99999/', ['redirect-target-not-url']],
    ['ftp://www.example.com/', ['redirect-target-not-url']],
    ['javascript:alert(1)', ['redirect-target-not-url']],
    ...[...';{}#"\'\\ \t\n\r\u0000\u007f\u0085\u00a0\u2028'].map((odd): [string, string[]] => [
      `https://www.example.com/a${odd}b`,
      ['redirect-target-character'],
    ]),
  ]
  test.each(rows)('%j', (url, codes) => {
    expect(inDefault(to(url))).toEqual(codes)
  })

  test('with a forbidden character is told which, and what to write', () => {
    const [one] = diagnosticsOf({ 'tenants/default/x.yaml': to('https://a.example/\u00a0') })
    expect([messageOf(one!), helpOf(one!)]).toEqual([
      'the target has the character U+00A0 in it',
      'percent-encode it, such as %C2%A0',
    ])
  })
})

describe('a redirect', () => {
  const target = 'targetUrl: "https://www.example.com/"'
  const rows: readonly [spec: string, codes: string[]][] = [
    [`sourceFqdn: Old_1.Example.com., ${target}, preservePath: false, createdAt: 1`, []],
    ...[301, 302, 307, 308].map((code): [string, string[]] => [
      `${source}, ${target}, code: ${code}`,
      [],
    ]),
    ...[0, 200, 300, 303, 999].map((code): [string, string[]] => [
      `${source}, ${target}, code: ${code}`,
      ['redirect-code-replaced'],
    ]),
    [`${source}, ${target}, code: 1000`, ['field-range']],
    [`${source}, ${target}, code: "301"`, ['field-type']],
    [`${source}, ${target}, perservePath: true`, ['field-unknown']],
    [source, ['field-missing']],
    [target, ['field-missing']],
    [`sourceFqdn: "*.example.com", ${target}`, ['redirect-loop-https']],
    [`sourceFqdn: "*.com", ${target}`, ['redirect-loop-https']],
    [`sourceFqdn: "*", ${target}`, ['name-wildcard']],
    [`sourceFqdn: "a.*.example.com", ${target}`, ['name-wildcard']],
    [`sourceFqdn: "*.*.example.com", ${target}`, ['name-wildcard']],
    [`sourceFqdn: "a*.example.com", ${target}`, ['name-wildcard']],
    [`${source}, ${target}, hstsMaxAge: 63072000, hstsIncludeSubDomains: true`, []],
    [`${source}, ${target}, hstsMaxAge: 63072001`, ['field-range']],
    [`${source}, ${target}, hstsMaxAge: -1`, ['field-range']],
    [`${source}, targetUrl: "https://a.example/?b"`, ['redirect-target-query']],
    [`${source}, targetUrl: "https://a.example/?b", preservePath: false`, []],
    [`sourceFqdn: "old.example.com:80", ${target}`, ['name-invalid']],
    [`sourceFqdn: "https://old.example.com", ${target}`, ['name-invalid']],
  ]
  test.each(rows)('{ %s }', (spec, codes) => {
    expect(inDefault(redirect(spec))).toEqual(codes)
  })
})

describe('a delegated domain', () => {
  const rows: readonly [domain: string, codes: string[]][] = [
    ['example.net', []],
    ['Example.NET.', []],
    ['"*.example.net"', ['name-wildcard']],
    ['example..net', ['name-invalid']],
    ['"."', ['name-invalid']],
  ]
  test.each(rows)('%s', (domain, codes) => {
    expect(inDefault(object('DelegatedDomain', 'd', `domain: ${domain}`))).toEqual(codes)
  })
})

test('a name is reported once within a tenant, as the identity, and twice for two tenants', () => {
  const spec = (host: string) => redirect(`sourceFqdn: ${host}, targetUrl: "https://example.com/"`)
  const one = { 'tenants/default/a.yaml': spec('a.test') }
  expect(codesOf({ ...one, 'tenants/default/b.yaml': spec('b.test') })).toEqual([
    'object-name-duplicate',
  ])
  const acme = object('Tenant', 'acme', '')
  expect(
    codesOf({ ...one, 'tenants/acme/tenant.yaml': acme, 'tenants/acme/b.yaml': spec('b.test') }),
  ).toEqual([])
})

test('a good one is taken, a faulty one is told its fault', () => {
  const files = {
    'tenants/default/a.yaml': to('https://www.example.com/'),
    'tenants/default/b.yaml': object('DelegatedDomain', 'd', 'domain: example.net'),
  }
  expect(diagnosticsOf(files).map(messageOf)).toEqual([])
  const faulty = { 'tenants/default/a.yaml': redirect(source) }
  expect(codesOf(faulty)).toEqual(['field-missing'])
})
