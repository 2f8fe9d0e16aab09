import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { test } from 'vitest'
import {
  findSigner,
  matchesPatternList,
  parseAllowedSigners,
} from '#gitops/trust/allowed-signers.ts'
import { formatPublicKeyLine, generateSshKey } from '#gitops/trust/openssh-key.ts'

const alice = generateSshKey('').publicKey
const bob = generateSshKey('').publicKey
const aliceKey = formatPublicKeyLine(alice, '')
const may2026 = Date.UTC(2026, 4, 1) / 1000

const accepted: readonly [title: string, line: string, namespace: string, isAllowed: boolean][] = [
  ['a plain line', `a@x ${aliceKey}`, 'git', true],
  ['a comment after the key', `a@x ${aliceKey} laptop of A`, 'git', true],
  ['a quoted principal', `"a@x,b@x" ${aliceKey}`, 'git', true],
  ['tabs between the words', `a@x\t${aliceKey}`, 'git', true],
  ['carriage returns', `a@x ${aliceKey}\r`, 'git', true],
  ['its namespace', `a@x namespaces="git" ${aliceKey}`, 'git', true],
  ['one namespace of a list', `a@x namespaces="file,git" ${aliceKey}`, 'git', true],
  ['a namespace pattern', `a@x namespaces="gslb-*" ${aliceKey}`, 'gslb-attest', true],
  ['not another namespace', `a@x namespaces="git" ${aliceKey}`, 'gslb-attest', false],
  ['not a negated namespace', `a@x namespaces="!git,*" ${aliceKey}`, 'git', false],
  ['option names in any case', `a@x Namespaces="git" ${aliceKey}`, 'git', true],
  [
    'a time inside the window',
    `a@x valid-after="20260101Z",valid-before="20270101Z" ${aliceKey}`,
    'git',
    true,
  ],
  ['not a time before the window', `a@x valid-after="20260601Z" ${aliceKey}`, 'git', false],
  ['not a time after the window', `a@x valid-before="20260430Z" ${aliceKey}`, 'git', false],
  ['seconds in a time', `a@x valid-before="20260501000001Z" ${aliceKey}`, 'git', true],
]
for (const [title, line, namespace, isAllowed] of accepted) {
  test(`accepts ${title}`, () => {
    const signers = parseAllowedSigners(`# people\n\n${line}\n`)
    assert(signers.ok)
    const found = findSigner(signers.value, { publicKey: alice, namespace, atSeconds: may2026 })
    assert.equal(found.ok, isAllowed)
    if (found.ok) assert.equal(found.value.line, 3)
    else assert.match(found.error, /line 3/)
    assert.equal(
      findSigner(signers.value, { publicKey: bob, namespace, atSeconds: may2026 }).ok,
      false,
    )
  })
}

const refused: readonly [title: string, line: string, says: RegExp][] = [
  [
    'an unknown option',
    `a@x no-touch-required ${aliceKey}`,
    /line 2: unknown option "no-touch-required"/,
  ],
  [
    'a certificate authority',
    `a@x cert-authority ${aliceKey}`,
    /line 2: certificates are not supported/,
  ],
  ['a missing principal', aliceKey, /line 2: expected "PRINCIPALS/],
  ['a missing key', 'a@x', /line 2: expected "PRINCIPALS/],
  ['an open quote', `a@x namespaces="git ${aliceKey}`, /line 2: a quote is not closed/],
  ['a cut key', `a@x ${aliceKey.slice(0, -9)}`, /line 2: the base64 part/],
  [
    'a day that does not exist',
    `a@x valid-after="20260231" ${aliceKey}`,
    /line 2: valid-after="20260231" is not a time/,
  ],
  ['an empty namespace list', `a@x namespaces="" ${aliceKey}`, /line 2: namespaces= needs a list/],
]
for (const [title, line, says] of refused) {
  test(`refuses the whole file for ${title}, naming the line`, () => {
    const signers = parseAllowedSigners(`b@x ${formatPublicKeyLine(bob, '')}\n${line}\n`)
    assert(!signers.ok)
    assert.match(signers.error, says)
  })
}

test('skips the lines of key types that are not verified here', () => {
  const signers = parseAllowedSigners(`a@x ssh-rsa AAAAB3NzaC1yc2E=\na@x ${aliceKey}\n`)
  assert(signers.ok)
  assert.deepEqual(
    signers.value.map((signer) => signer.line),
    [2],
  )
})

test('pattern lists agree with a regular expression', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 })
  fc.assert(
    fc.property(
      word,
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }),
      (pattern, value) => {
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(
          value,
        )
        assert.equal(matchesPatternList(value, pattern), expected)
      },
    ),
  )
})

test('any text is either a list or an error, never a throw', () => {
  const unit = fc.constantFrom(
    'a',
    '"',
    ' ',
    ',',
    '=',
    '\n',
    '#',
    'namespaces',
    'ssh-ed25519',
    '\t',
    '20260101',
  )
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
      parseAllowedSigners(text)
    }),
  )
})

const corpus = new URL('../../../fuzz/corpus/allowed-signers/', import.meta.url)
for (const name of readdirSync(corpus)) {
  test(`trusts nobody because of the seed ${name}`, () => {
    const signers = parseAllowedSigners(readFileSync(new URL(name, corpus), 'utf8'))
    assert.deepEqual(signers.ok ? signers.value : [], [])
  })
}
