// A signed zone below a signed zone of the same node, by the keys of both and the DS of one.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { DigestType, dsRdata, generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { storeKey } from '#server/signing/key-store.ts'
import { childName, modelWithChild, startSignedNode } from '#test/support/dns/signed-zone.ts'
import { signedName } from '#test/support/dns/signed-zone.ts'
import type { SignedNode } from '#test/support/dns/signed-zone.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { saidBy } from '#test/support/said-by.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

let folder = ''
let node: SignedNode
beforeAll(async () => {
  folder = makeTempDir('signed-child')
  const key = generateZoneKey(signingAlgorithm(15)!)
  storeKey(folder, { zone: wireName(childName), key }, null, Date.now())
  node = await startSignedNode(folder, 13)
})
afterAll(async () => {
  await node.stop()
  removeTempDir(folder)
})

async function delv(...question: string[]): Promise<string> {
  const anchor = join(folder, 'anchor.conf')
  const ds = dsRdata(wireName(signedName), node.key, DigestType.Sha256)
  const digest = Buffer.from(ds.subarray(4)).toString('hex')
  const trusted = `${signedName} static-ds ${node.key.tag} 13 2 "${digest}"`
  writeFileSync(anchor, `trust-anchors { ${trusted}; };\n`)
  const at = ['@127.0.0.1', '-p', `${node.port}`, '-a', anchor, `+root=${signedName}`]
  return (await saidBy('delv', [...at, ...question])).text
}

test('delv follows the chain from the zone above to the one below', async () => {
  await node.serve(modelWithChild(15))
  expect(await delv(`www.${childName}`, 'A')).toMatch(/fully validated[^]*192\.0\.2\.99/)
  expect(await delv(`none.${childName}`, 'A')).toMatch(/negative response, fully validated/)
  expect(await delv(childName, 'DS')).toMatch(/fully validated/)
})

test('a zone below that is not signed is insecure to delv, and not bogus', async () => {
  await node.serve(modelWithChild(0))
  expect(await delv(`www.${childName}`, 'A')).toMatch(/unsigned answer[^]*192\.0\.2\.99/)
})

test('the records of a child for its parent stand below its name server, too', async () => {
  const model = modelWithChild(15)
  const [above, ...rest] = model.zones
  await node.serve({ ...model, zones: [{ ...above!, hasSignals: true, csync: 3 }, ...rest] })
  const signal = `_dsboot.${childName}_signal.ns1.${signedName}`
  const said = await delv(childName, 'CDS')
  const rdata = /\sCDS\s+(\d+ 15 2 \S+)/.exec(said)?.[1] ?? said
  expect(await delv(signal, 'CDS')).toMatch(/fully validated/)
  expect(await delv(signal, 'CDS')).toContain(rdata)
  expect(await delv(signal, 'CDNSKEY')).toMatch(/fully validated[^]*257 3 15 /)
  for (const [name, type] of [
    [signal, 'A'],
    [`org._signal.ns1.${signedName}`, 'CDS'],
    [`_dsboot.other.example._signal.ns1.${signedName}`, 'CDS'],
  ]) {
    expect(await delv(name!, type!)).toMatch(/negative response, fully validated/)
  }
  expect(await delv(signedName, 'CSYNC')).toMatch(/fully validated[^]*CSYNC\s+\d+ 3 A NS AAAA/)
})
