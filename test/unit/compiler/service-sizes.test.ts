// How many addresses of a service a DNS message holds, as the compiler counts them.
import { expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import { sourceFile } from './fixture.ts'

const head = (kind: string, name: string) =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: `

function said(members: readonly string[]): string[] {
  const files = [
    sourceFile(
      'gslb.yaml',
      `${head('Settings', 'settings')}{ zones: [{ name: example.com., nameservers: [{ name: ` +
        'ns1.example.net. }] }] }\n',
    ),
    sourceFile(
      'tenants/default/pools/web.yaml',
      `${head('Pool', 'web')}{ healthCheck: { type: tcp }, members: [${members.join(', ')}] }\n`,
    ),
    sourceFile(
      'tenants/default/services/www.yaml',
      `${head('Service', 'www')}{ domain: www.example.com., pool: web }\n`,
    ),
  ]
  return createCompiler()
    .compile(files, { commit: '' })
    .diagnostics.filter(({ code }) => code === 'service-too-large')
    .map(messageOf)
}

const list = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i))
const v4 = (count: number, port = 443) =>
  list(count, (i) => `{ ipAddress: 10.1.${i >> 8}.${i & 255}, port: ${port} }`)
const v6 = (count: number, more = '') =>
  list(count, (i) => `{ ipAddress: 2001:db8::1:${i.toString(16)}, port: 443${more} }`)

// 65,535 octets less 44 of header, question and OPT record: 4,093 of 16 octets, 2,338 of 28.
test.each([
  ['as many of IPv6 as fit', v6(2_338), []],
  ['one more', v6(2_339), ['2339 AAAA records of www.example.com. are a message of 65536 octets']],
  ['as many of IPv4 as fit', v4(4_093), []],
  ['one more', v4(4_094), ['4094 A records of www.example.com. are a message of 65548 octets']],
  ['the families apart', [...v4(1_700), ...v6(2_338)], []],
  ['an address of two ports once', [...v4(4_093), ...v4(3, 80)], []],
  ['those that are enabled', [...v6(2_338), ...v6(2_400, ', enabled: false').slice(2_338)], []],
])('%s: what a secondary server would answer is counted', (_what, members, expected) => {
  const all = expected.map((line) => `${line}, and DNS has 65535 at most`)
  expect(said(members)).toEqual(all)
})
