// Small configurations of one zone with records, and what the compiler says of them.
import { createCompiler } from '#compiler/compile.ts'
import { messageOf } from '#diagnostics/diagnostics.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { sourceFile } from './fixture.ts'

export const top = (kind: string, name: string): string =>
  `apiVersion: gslb/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`
export const zonesOf = (zones: string): SourceFile =>
  sourceFile('gslb.yaml', `${top('Settings', 'settings')}spec:\n  zones: [${zones}]\n`)
export const zone = (name: string, more = ''): string =>
  `{ name: ${name}, nameservers: [{ name: ns1.example.net. }]${more} }`
export const settings = zonesOf(zone('example.com.'))
export const path = 'tenants/default/records/zone.yaml'
export const records = (sets: readonly string[], name = 'zone', of = 'example.com.'): SourceFile =>
  sourceFile(
    `tenants/default/records/${name}.yaml`,
    `${top('Records', name)}spec:\n  zone: ${of}\n  records:\n` +
      sets.map((set) => `    - ${set}\n`).join(''),
  )
export const service = (name: string, domain: string): SourceFile =>
  sourceFile(
    `tenants/default/services/${name}.yaml`,
    `${top('Service', name)}spec: { domain: "${domain}", pool: null }\n`,
  )

export const compile = (...files: SourceFile[]) => createCompiler().compile(files, { commit: '' })
export const messagesOf = (...files: SourceFile[]): string[] =>
  compile(...files).diagnostics.map(messageOf)
