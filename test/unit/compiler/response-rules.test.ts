// Response policies in files: what is compared with what, and what a rule may do to the rest.
import { describe, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import type { CompilerParts } from '#compiler/compile.ts'
import type { CompileResult } from '#compiler/compile.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { bundleLimits } from '#bundle/format/limits.ts'
import { sourceFile } from './fixture.ts'

const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - name: example.com.
      nameservers: [{ name: ns1.example.net. }]
    - name: eu.example.com.
      nameservers: [{ name: ns1.example.net. }]
`
const service = `apiVersion: gslb/v1
kind: Service
metadata: { name: www }
spec: { domain: www.example.com. }
`
const policy = (name: string, ...rules: string[]): string =>
  `apiVersion: gslb/v1\nkind: ResponsePolicy\nmetadata: { name: ${name} }\nspec:\n  rules:\n` +
  rules.map((text) => `    - { ${text} }\n`).join('')
const rule = (type: string, value: string, action: string, target?: string): string =>
  `triggerType: ${type}, triggerValue: ${value}, action: ${action}` +
  (target === undefined ? '' : `, actionTarget: ${target}`)

type Files = Readonly<Record<string, string>>

function compiled(files: Files, parts: Partial<CompilerParts> = {}): CompileResult {
  const all = { 'gslb.yaml': settings, 'tenants/default/services/www.yaml': service, ...files }
  const sources = Object.entries(all).map(([path, text]) => sourceFile(path, text))
  return createCompiler(parts).compile(sources, { commit: '' })
}

/** `code: message` of each finding. */
const found = (files: Files, parts: Partial<CompilerParts> = {}): string[] =>
  compiled(files, parts).diagnostics.map((one) => `${one.code}: ${messageOf(one)}`)
const inPolicy = (...rules: string[]): string[] =>
  found({ 'rpz/local.yaml': policy('local', ...rules) })

describe('in a zone that is signed', () => {
  const signedSettings = settings.replace(
    '- name: eu.example.com.',
    '- name: eu.example.com.\n      dnssec: { enabled: true }',
  )
  const inSigned = (...rules: string[]): string[] =>
    found({ 'gslb.yaml': signedSettings, 'rpz/local.yaml': policy('local', ...rules) })
  const denied = rule('domain', 'a.eu.example.com', 'nxdomain')

  test.each([
    ['a rule is not signed', denied, 1],
    ['a rule says that it is', `${denied}, signed: true`, 0],
    ['a rule lets pass', rule('exact', 'a.eu.example.com', 'passthru'), 0],
    ['a rule is for another zone', rule('exact', 'a.example.com', 'nxdomain'), 0],
    ['a rule is for a domain above', rule('domain', 'example.com', 'nxdomain'), 1],
    ['a rule is for a domain above all zones', rule('domain', 'com', 'nxdomain'), 1],
    ['a rule above is signed', `${rule('domain', 'com', 'nxdomain')}, signed: true`, 0],
    ['a rule is for the very name above', rule('exact', 'example.com', 'nxdomain'), 0],
  ])('%s', (_, text, count) => {
    const warned = inSigned(text).filter((line) => line.startsWith('response-rule-in-signed'))
    expect(warned).toHaveLength(count)
  })

  const cut = `apiVersion: gslb/v1
kind: Records
metadata: { name: eu }
spec:
  zone: eu.example.com.
  records: [{ name: cut, type: NS, values: [ns.example.net.] }]
`
  test.each([
    ['exact', 'a.eu.example.com', undefined],
    ['domain', 'com', undefined],
    ['exact', 'com', 'it is in no zone of this server'],
    ['domain', 'a.example.com', 'the zone example.com. is not signed'],
    ['exact', 'cut.eu.example.com', 'cut.eu.example.com. is delegated to other servers'],
    ['domain', 'a.b.cut.eu.example.com', 'cut.eu.example.com. is delegated to other servers'],
  ])('signed: true in a rule of %s %s: %s', (type, trigger, why) => {
    const files = {
      ...{ 'gslb.yaml': signedSettings, 'tenants/default/records/eu.yaml': cut },
      'rpz/local.yaml': policy('local', `${rule(type, trigger, 'nxdomain')}, signed: true`),
    }
    const code = 'response-rule-signed-by-none'
    const said = `${code}: signed: true has no effect in the rule for ${trigger}.`
    const warned = found(files).filter((line) => line.startsWith(code))
    expect(warned).toEqual(why === undefined ? [] : [`${said}: ${why}`])
  })

  test('a rule for a domain above is none where the zone has a rule of its own', () => {
    const own = rule('domain', 'eu.example.com', 'passthru')
    const codes = inSigned(rule('domain', 'com', 'nxdomain'), own)
    expect(codes.filter((line) => line.startsWith('response-rule-in-signed'))).toEqual([])
  })

  test('a rule that is signed below one that is not has an effect', () => {
    const below = rule('domain', 'b.a.eu.example.com', 'nxdomain')
    const without = (...rules: string[]): string[] =>
      inSigned(...rules).filter((line) => line.startsWith('response-rule-without-effect'))
    expect(without(denied, `${below}, signed: true`)).toEqual([])
    expect(without(denied, below)).toHaveLength(1)
  })
})

describe('rules', () => {
  test('are compared without case and final dot, and lowered in one form', () => {
    const files = {
      'rpz/a.yaml': policy('a', rule('exact', 'Bad.EXAMPLE', 'cname', 'Blocked.Example.NET.')),
    }
    const result = compiled(files)
    expect(result.ok && result.model.responseRules).toEqual([
      {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        triggerType: 'exact',
        trigger: 'bad.example.',
        action: 'cname',
        target: 'blocked.example.net.',
        signed: false,
        source: 'a',
      },
    ])
  })

  test('keep their uid when they move inside their file, and lose it with another trigger', () => {
    const uidsOf = (...rules: string[]): string[] => {
      const result = compiled({ 'rpz/a.yaml': policy('a', ...rules) })
      return result.ok ? result.model.responseRules.map(({ uid }) => uid) : []
    }
    const [one, two] = [rule('exact', 'a.test', 'nxdomain'), rule('exact', 'b.test', 'nxdomain')]
    const [uidOne, uidTwo] = uidsOf(one, two)
    expect(uidsOf(rule('exact', 'B.test.', 'nxdomain'), one)).toEqual([uidTwo, uidOne])
    expect(uidsOf(rule('domain', 'a.test', 'nxdomain'))).not.toContain(uidOne)
  })

  test('for one name in two files are refused, whatever their sources', () => {
    const files = {
      'rpz/a.yaml': policy('a', rule('domain', 'bad.test', 'nxdomain')),
      'rpz/sub/b.yaml': policy('b', rule('domain', 'BAD.test.', 'nxdomain')),
    }
    expect(found(files)).toEqual([
      'response-rule-duplicate: there is another domain rule for bad.test.',
    ])
  })

  test('with a uid that is taken are refused', () => {
    const uid = '01976c1e-7e5c-7000-8000-000000000001'
    const files = {
      'rpz/a.yaml': policy('a', `${rule('exact', 'a.test', 'nxdomain')}, uid: ${uid}`),
      'rpz/b.yaml': policy('b', `${rule('exact', 'b.test', 'nxdomain')}, uid: ${uid}`),
    }
    expect(found(files)).toEqual([`uid-duplicate: the uid ${uid} is used twice`])
  })

  test('beyond the limit are refused', () => {
    const limits = { ...bundleLimits, responseRulesMax: 1 }
    const rules = [rule('exact', 'a.test', 'nxdomain'), rule('exact', 'b.test', 'nxdomain')]
    expect(found({ 'rpz/a.yaml': policy('a', ...rules) }, { limits })).toEqual([
      'limit-exceeded: there are 2 response rules, the limit is 1',
    ])
  })
})

describe('a name in a rule', () => {
  const rows: readonly [value: string, codes: string[]][] = [
    ['bad.test', []],
    ['_dmarc.bad.test.', []],
    ['xn--bcher-kva.test', []],
    ['"*.bad.test"', ['response-trigger-wildcard']],
    ['"a.*.test"', ['response-trigger-wildcard']],
    ['"*"', ['response-trigger-wildcard']],
    ['"."', ['name-invalid']],
    ['bad..test', ['name-invalid']],
    ['"bad test"', ['name-invalid']],
    ['bücher.test', ['name-invalid']],
    [`${'a'.repeat(64)}.test`, ['name-label-too-long']],
    [Array<string>(60).fill('abcd').join('.'), ['name-too-long']],
  ]
  test.each(rows)('%s', (value, codes) => {
    const of = (findings: string[]): string[] => findings.map((text) => text.split(':')[0]!)
    expect(of(inPolicy(rule('exact', value, 'nxdomain')))).toEqual(codes)
    const asTarget = codes.map((code) => code.replace('response-trigger', 'name'))
    expect(of(inPolicy(rule('exact', 'x.test', 'cname', value)))).toEqual(asTarget)
  })
})

describe('a loop', () => {
  const loop = (names: string): string =>
    `response-cname-loop: the alias comes back to itself: ${names}`
  test('through a domain rule is found', () => {
    const rules = [
      rule('exact', 'a.test', 'cname', 'x.b.test'),
      rule('domain', 'b.test', 'cname', 'a.test'),
    ]
    expect(inPolicy(...rules)).toEqual([loop('x.b.test. → a.test. → x.b.test.')])
  })

  test('is none where a rule lets the target pass, or denies it', () => {
    for (const action of ['passthru', 'nxdomain']) {
      const rules = [
        rule('domain', 'b.test', 'cname', 'x.b.test'),
        rule('exact', 'x.b.test', action),
      ]
      expect(inPolicy(...rules)).toEqual([])
    }
  })

  test('with very many rules is found in bounded time and shown on one line', () => {
    const count = 10_000
    const rules = Array.from({ length: count }, (_, i) =>
      rule('exact', `h${i}.test`, 'cname', `h${(i + 1) % count}.test`),
    )
    const names = ['h1', 'h2', 'h3', 'h4', 'h5'].map((name) => `${name}.test.`)
    expect(inPolicy(...rules)).toEqual([loop([...names, '…'].join(' → '))])
  })
})

describe('names of ours', () => {
  const zoneRow = (trigger: string, zones: string) =>
    `response-rule-hides-zone: the rule for ${trigger} takes the whole zone ${zones} off the air`
  const rows: readonly [rules: string[], findings: string[]][] = [
    [[rule('domain', 'com', 'nxdomain')], [zoneRow('com.', 'example.com. (and 1 more)')]],
    [[rule('exact', 'example.com', 'nxdomain')], [zoneRow('example.com.', 'example.com.')]],
    [
      [rule('domain', 'eu.example.com', 'cname', 'x.test')],
      [zoneRow('eu.example.com.', 'eu.example.com.')],
    ],
    [
      [rule('exact', 'www.example.com', 'nxdomain')],
      [
        'response-rule-hides-service: the rule for www.example.com. answers instead of www.example.com.',
      ],
    ],
    [[rule('domain', 'xample.com', 'nxdomain')], []],
    [[rule('domain', 'a.www.example.com', 'nxdomain')], []],
    [
      [rule('domain', 'www.example.com', 'nxdomain'), rule('exact', 'www.example.com', 'passthru')],
      [],
    ],
  ]
  test.each(rows)('under %j', (rules, findings) => {
    expect(inPolicy(...rules)).toEqual(findings)
  })
})

describe('a policy', () => {
  test('in an unreadable file hides no finding of the settings', () => {
    const files = { 'rpz/a.yaml': 'apiVersion: gslb/v1\nkind: ResponsePolicy\nspec: [' }
    expect(found(files).map((text) => text.split(':')[0])).toEqual(['yaml-bracket-open'])
  })

  test('in the folder of a tenant, and a service in rpz/, are misplaced', () => {
    const other = service.replaceAll('www', 'web')
    const files = {
      'tenants/default/rpz.yaml': policy('a', rule('exact', 'a.test', 'nxdomain')),
      'rpz/web.yaml': other,
    }
    expect(found(files)).toEqual([
      'kind-misplaced: a Service does not belong here',
      'kind-misplaced: a ResponsePolicy does not belong here',
    ])
  })
})
