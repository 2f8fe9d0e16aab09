// What a zone says of its signatures, from its settings to the records that are answered.
import { assert, expect, test } from 'vitest'
import { createCompiler } from '#compiler/compile.ts'
import { rrsetsOfNode } from '#bundle/load/rrset-values.ts'
import { hasSignals } from '#bundle/load/zone-signing.ts'
import { packKeys } from '#answer/signing/signing-keys.ts'
import { signingAlgorithm } from '#dns/dnssec/algorithms.ts'
import { everyUse } from '#dns/dnssec/key-record.ts'
import { generateZoneKey } from '#dns/dnssec/zone-key.ts'
import { RrType } from '#dns/rrtype.ts'
import { bundleOf as loaded } from '#test/support/bundle-models.ts'
import { sourceFile } from '#test/unit/compiler/fixture.ts'
import { answering, typesIn } from '#test/support/dns/signed-answers.ts'
import { wireName } from '#test/support/dns/wire-name.ts'

const records = (value: string): string => `apiVersion: gslb/v1
kind: Records
metadata: { name: zone }
spec:
  zone: example.com.
  records: [{ name: '@', type: CSYNC, values: ['${value}'] }]
`

function bundleOf(dnssec: string, own?: string) {
  const text = `apiVersion: gslb/v1
kind: Settings
metadata: { name: settings }
spec:
  zones:
    - name: example.com.
      serialBase: 7
      nameservers: [{ name: ns1.example.net. }]
      dnssec: ${dnssec}
`
  const files = [
    sourceFile('gslb.yaml', text),
    ...(own === undefined ? [] : [sourceFile('tenants/default/records/zone.yaml', records(own))]),
  ]
  const compiled = createCompiler().compile(files, { commit: '' })
  assert(compiled.ok)
  return loaded(compiled.model)
}

const key = generateZoneKey(signingAlgorithm(13)!)
const keys = packKeys([{ zone: wireName('example.com.'), key, use: everyUse }])
/** The types NS, A and AAAA. */
const bitmap = '0004600000' + '08'

test.each([
  ['{}', undefined, null],
  ['{ csync: immediate }', undefined, `000000000001${bitmap}`],
  ['{ csync: soaminimum }', undefined, `0000000c0003${bitmap}`],
  ['{ csync: soaminimum }', '9 2 NS', '000000090002' + '000120'],
  ['{ enabled: false, csync: immediate }', undefined, null],
])('a zone with dnssec %s and the record %j has the CSYNC %j', (dnssec, own, rdata) => {
  const node = answering(bundleOf(dnssec, own), keys)
  node.addSerial(5)
  const { answer } = node.ask('example.com. TYPE62')
  expect(answer[0]?.rdata.toString('hex') ?? null).toBe(rdata)
  if (rdata !== null) expect(typesIn(answer)).toEqual(['TYPE62', 'RRSIG'])
})

test('the serial of CSYNC is that of the zone, and is signed anew with it', () => {
  const node = answering(bundleOf('{ csync: soaminimum }'), keys)
  const signatures = [5, 6, 5].map((serial) => {
    node.addSerial(serial)
    const { answer } = node.ask('example.com. TYPE62')
    expect(answer[0]!.rdata.readUInt32BE(0)).toBe(7 + serial)
    return answer[1]!.rdata.toString('hex')
  })
  expect(signatures[0]).not.toBe(signatures[1])
  const bundle = bundleOf('{ csync: soaminimum }')
  const found = rrsetsOfNode(bundle, bundle.zoneNode[0]!).find(({ type }) => type === RrType.CSYNC)
  // For people, and for who copies it elsewhere: without what is for answers alone.
  expect(Buffer.from(found!.rdata[0]!).toString('hex')).toBe(`000000070003${bitmap}`)
})

test.each([
  ['{ signals: true }', true],
  ['{ signals: false }', false],
  ['{}', false],
])('a zone with dnssec %s tells what keys others have: %j', (dnssec, has) => {
  expect(hasSignals(bundleOf(dnssec), 0)).toBe(has)
})
