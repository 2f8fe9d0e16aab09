// Keys and signatures, checked by the tools of BIND, Knot and ldns; and their keys, read here.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signingAlgorithms } from '#dns/dnssec/algorithms.ts'
import type { SigningAlgorithm } from '#dns/dnssec/algorithms.ts'
import { writeTypeBits } from '#dns/dnssec/denial.ts'
import { bindKeyFiles, readBindKey, readPemKey } from '#dns/dnssec/key-files.ts'
import { signRrset } from '#test/support/dns/rrsig.ts'
import { DigestType, dsRdata, generateZoneKey } from '#dns/dnssec/zone-key.ts'
import type { ZoneKey } from '#dns/dnssec/zone-key.ts'
import { parseRdata, rdataTypeOf } from '#dns/rdata/rdata-types.ts'
import { printGeneric } from '#dns/rdata-text/rdata-type.ts'
import { typeNumber } from '#test/support/dns/codes.ts'
import { wireName } from '#test/support/dns/wire-name.ts'
import { saidBy } from '#test/support/said-by.ts'
import { makeTempDir, removeTempDir } from '#test/support/temp-dir.ts'

const zone = wireName('example.org')
let folder = ''
beforeAll(() => {
  folder = makeTempDir()
})
afterAll(() => removeTempDir(folder))

const run = async (program: string, ...args: readonly string[]): Promise<string> => {
  const { text, code } = await saidBy(program, args)
  expect(`${text}${code === 0 ? '' : `exit ${code}`}`).not.toMatch(/exit \d/)
  return text
}

/** Owners in canonical order, each with its rrsets. */
const names: readonly (readonly [owner: string, rrsets: Readonly<Record<string, string[]>>])[] = [
  [
    'example.org.',
    {
      SOA: ['NS1.example.org. hostmaster.example.org. 1 3600 600 86400 300'],
      NS: ['NS1.example.org.', 'ns2.Example.org.'],
      MX: ['20 mail.example.org.', '10 MAIL2.example.org.'],
    },
  ],
  ['mail.example.org.', { A: ['192.0.2.10', '192.0.2.9'], TXT: ['"b" "a"', '"a"'] }],
  ['mail2.example.org.', { AAAA: ['2001:db8::2', '2001:db8::1'] }],
  ['ns1.example.org.', { A: ['192.0.2.1'] }],
  ['ns2.example.org.', { A: ['192.0.2.2'], RP: ['Some.Body.example.org. .'] }],
  ['*.star.example.org.', { A: ['192.0.2.3'] }],
  ['www.example.org.', { CNAME: ['MAIL.example.org.'] }],
]

const ttlSeconds = 300

/** A whole zone with a chain of NSEC records: these tools check nothing less. */
function signedZone(key: ZoneKey): string {
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const validity = { inception: nowSeconds - 3_600, expiration: nowSeconds + 86_400 }
  const lines: string[] = []
  const add = (owner: string, type: number, rdata: readonly Uint8Array[]): void => {
    const rrset = { owner: wireName(owner), type, ttlSeconds, rdata }
    for (const one of rdata) lines.push(line(owner, type, one))
    lines.push(line(owner, typeNumber('RRSIG'), signRrset(rrset, zone, key, validity)))
  }
  for (const [i, [owner, rrsets]] of names.entries()) {
    const types = Object.keys(rrsets).map(typeNumber)
    for (const [type, texts] of Object.entries(rrsets)) {
      add(
        owner,
        typeNumber(type),
        texts.map((text) => rdataOf(type, text)),
      )
    }
    if (i === 0) {
      add(owner, typeNumber('DNSKEY'), [key.rdata])
      types.push(typeNumber('DNSKEY'))
    }
    const bitmap = [...types, typeNumber('RRSIG'), typeNumber('NSEC')].sort((a, b) => a - b)
    const octets = Buffer.alloc(512)
    const next = wireName(names[(i + 1) % names.length]![0])
    octets.set(next)
    const end = writeTypeBits(octets, next.length, Uint16Array.from(bitmap), bitmap.length)
    add(owner, typeNumber('NSEC'), [octets.subarray(0, end)])
  }
  return `${lines.join('\n')}\n`
}

const line = (owner: string, type: number, rdata: Uint8Array): string =>
  `${owner} ${ttlSeconds} IN TYPE${type} ${printGeneric(rdata)}`

function rdataOf(type: string, text: string): Uint8Array {
  const parsed = parseRdata(rdataTypeOf(typeNumber(type)), text)
  if (!parsed.ok) throw new Error(parsed.error.expected)
  return parsed.value
}

/** The files of a new key, by their path without the ending. */
function written(algorithm: SigningAlgorithm): readonly [key: ZoneKey, path: string] {
  const key = generateZoneKey(algorithm)
  const files = bindKeyFiles({ zone, key }, Date.now())
  const path = join(folder, files.stem)
  writeFileSync(`${path}.key`, files.record)
  writeFileSync(`${path}.private`, files.secret, { mode: 0o600 })
  return [key, path]
}

describe.each(signingAlgorithms)('$mnemonic', (algorithm) => {
  test('a key of dnssec-keygen is read, and has the digests of dnssec-dsfromkey', async () => {
    const args = ['-q', '-a', algorithm.mnemonic, '-f', 'KSK', '-K', folder, 'example.org']
    const path = join(folder, (await run('dnssec-keygen', ...args)).trim())
    const [record, secret] = [readFileSync(`${path}.key`), readFileSync(`${path}.private`)]
    const read = readBindKey(record.toString(), secret.toString())
    if (!read.ok) throw new Error(read.error)
    for (const [option, type] of [
      ['-2', DigestType.Sha256],
      ['-aSHA-384', DigestType.Sha384],
    ] as const) {
      const said = await run('dnssec-dsfromkey', option, `${path}.key`)
      const [owner, ...ds] = said.trim().split(/ IN DS /)
      expect(owner).toBe('example.org.')
      const text = rdataTypeOf(typeNumber('DS')).print(dsRdata(zone, read.value.key, type))
      expect(text.replaceAll(' ', '').toUpperCase()).toBe(ds.join('').replaceAll(' ', ''))
    }
  })

  test('our key signs a zone in BIND, and is known to ldns', async () => {
    const [key, path] = written(algorithm)
    const file = `${path}.zone`
    const text = names.flatMap(([owner, rrsets]) =>
      Object.entries(rrsets).flatMap(([type, values]) =>
        values.map((value) => `${owner} ${ttlSeconds} IN ${type} ${value}`),
      ),
    )
    writeFileSync(file, `${text.join('\n')}\n`)
    const where = ['-K', folder, '-d', folder, '-o', 'example.org']
    const said = await run('dnssec-signzone', '-S', '-z', ...where, file)
    expect(said).toMatch(/fully signed/)
    const ds = await run('ldns-key2ds', '-n', '-2', `${path}.key`)
    expect(ds).toContain(`DS\t${key.tag} ${algorithm.number} 2 `)
    const digest = Buffer.from(dsRdata(zone, key, DigestType.Sha256).subarray(4)).toString('hex')
    expect(ds).toContain(digest)
  })

  test('a zone with our signatures is right for BIND, Knot and ldns', async () => {
    const [key, path] = written(algorithm)
    const file = `${path}.signed`
    writeFileSync(file, signedZone(key))
    expect(await run('dnssec-verify', '-z', '-o', 'example.org', file)).toMatch(/fully signed/)
    expect(await run('ldns-verify-zone', file)).toMatch(/Zone is verified and complete/)
    await run('kzonecheck', '-d', 'on', '-o', 'example.org', file)
    // The same with one record changed: they do look.
    writeFileSync(file, signedZone(key).replace('c0000209', 'c0000208'))
    const { code } = await saidBy('dnssec-verify', ['-z', '-o', 'example.org', file])
    expect(code).not.toBe(0)
  })

  test('Knot takes our key, and we take the file that it keeps', async () => {
    const [key, path] = written(algorithm)
    const keys = join(folder, `knot-${algorithm.number}`)
    await run('keymgr', '-D', keys, 'example.org', 'import-bind', `${path}.private`)
    expect(await run('keymgr', '-D', keys, 'example.org', 'ds')).toContain(` ${key.tag} `)
    const [pem] = readdirSync(join(keys, 'keys')).filter((name) => name.endsWith('.pem'))
    const read = readPemKey(readFileSync(join(keys, 'keys', pem!), 'utf8'))
    expect(read).toMatchObject({ ok: true, value: { tag: key.tag } })
  })
})
