import { expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { objectUid } from '#compiler/read/identity.ts'
import { sourceFile } from './fixture.ts'

const uid = '01976c1e-7e5c-7000-8000-000000000001'
const derived = objectUid('default', 'Pool', 'other')

const settings = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - name: example.com.
      nameservers: [{ name: ns1.example.com., addresses: ["192.0.2.1"] }]
      soa: { mname: ns1.example.com., rname: hostmaster.example.com. }
`

/** @param members what follows their address */
function pool(name: string, written: string, ...members: string[]): ReturnType<typeof sourceFile> {
  const lines = members.map(
    (fields, i) => `    - { ipAddress: 192.0.2.${1 + i}, port: 1${fields} }`,
  )
  const head = `apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: ${name}${written} }\n`
  return sourceFile(
    `tenants/default/pools/${name}.yaml`,
    `${head}spec:\n  members:\n${lines.join('\n')}\n`,
  )
}

const bare = pool('other', '', '')

test.each([
  ['of two pools', [pool('web', `, uid: ${uid}`, ''), pool('api', `, uid: ${uid}`, '')]],
  ['of a pool and its member', [pool('web', `, uid: ${uid}`, `, uid: ${uid.toUpperCase()}`)]],
  ['of two members of a pool', [pool('web', '', `, uid: ${uid}`, `, uid: ${uid}`)]],
  ['of members of two pools', [pool('web', '', `, uid: ${uid}`), pool('api', '', `, uid: ${uid}`)]],
  ['that another pool has without saying so', [bare, pool('web', `, uid: ${derived}`, '')]],
  ['of a member, and of a pool that does not say so', [bare, pool('web', '', `, uid: ${derived}`)]],
])('a uid %s is refused, also when the file came last', (_, pools) => {
  const files = [sourceFile('gslb.yaml', settings), ...pools]
  const compiler = createCompiler()
  compiler.compile(files.slice(0, -1), { commit: '' })
  for (const result of [
    compiler.compile(files, { commit: '' }),
    createCompiler().compile(files, { commit: '' }),
  ]) {
    const errors = result.diagnostics.filter(({ severity }) => severity === 'error')
    expect(errors.map(({ code }) => code)).toEqual(['uid-duplicate'])
  }
})
