import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { findSigner, parseAllowedSigners } from '#gitops/trust/allowed-signers.ts'
import { formatPublicKeyLine, generateSshKey } from '#gitops/trust/openssh-key.ts'
import { makeSshSignature } from '#gitops/trust/sshsig.ts'
import { gitSandbox } from '../../../support/git-sandbox.ts'
import type { GitSandbox } from '../../../support/git-sandbox.ts'
import { laneCount, laneRows } from '../../../support/lane.ts'
import { testSeed } from '../../../support/random.ts'
import { runProgram } from '../../../support/run-program.ts'

const alice = generateSshKey('')
const key = formatPublicKeyLine(alice.publicKey, '')
const [, blob = ''] = key.split(' ')
const other = formatPublicKeyLine(generateSshKey('').publicKey, '')
/** 1 May 2026, at noon. */
const atSeconds = Date.UTC(2026, 4, 1, 12) / 1000
const long = (length: number): string => 'a'.repeat(length - 4) + '@x.e'

/** Rules that are stricter than OpenSSH's, in the words of the page. */
const notUtc = 'A time without `Z` is refused'
const badLine = 'one bad line refuses the whole file'
const authority = '`cert-authority` and options not listed here are refused'
const noSuchTime = 'so is a day, a minute or a second that no clock shows'
const noNamespace = 'an empty list of namespaces'
const strange = 'a NUL character'

type Row = readonly [title: string, file: string, openssh: boolean, stricter?: string]

const rows: readonly Row[] = [
  ['a plain line', `a@x ${key}`, true],
  ['a line feed at the end', `a@x ${key}\n`, true],
  ['a comment after the key', `a@x ${key} laptop of A`, true],
  ['a comment with a quote', `a@x ${key} A's 13" laptop`, true],
  ['a comment with two quotes', `a@x ${key} "laptop" of A`, true],
  ['a comment line with a quote', `# 13" laptop\na@x ${key}`, true],
  ['an indented comment', ` \t# a@x\na@x ${key}`, true],
  ['an indented line', `  a@x ${key}`, true],
  ['empty lines', `\n \t\r\n\na@x ${key}\n\n`, true],
  ['tabs', `a@x\t${key.replace(' ', '\t')}`, true],
  ['many spaces', `a@x   ${key.replace(' ', '   ')}   x`, true],
  ['line ends of DOS', `a@x namespaces="git" ${key}\r\n# x\r\n`, true],
  ['line ends of a Mac', `a@x ssh-ed25519\r${blob}`, false],
  ['a carriage return before the principal', `\ra@x ${key}`, false],
  ['a carriage return before a comment', `\r# x\na@x ${key}`, true, badLine],
  ['a carriage return after the principal', `a@x\r${key}`, true],
  ['a carriage return after the options', `a@x namespaces="git"\r ${key}`, false],
  ['a form feed between', `a@x\f${key}`, false],
  ['a no-break space between', `a@x\u00a0${key}`, false],
  ['a wide space at the start', `\u3000a@x ${key}`, true],
  ['a mark of the order of bytes', `\ufeffa@x ${key}`, true],
  ['a mark before a comment', `\ufeff# x\na@x ${key}`, true, badLine],
  ['another key', `a@x ${other}`, false],
  ['a key that is cut', `a@x ${key.slice(0, -9)}`, false],
  ['a key with octets behind it', `a@x ${key}AAAA`, false],
  ['a key of another type', `a@x ssh-rsa ${blob}`, false],
  ['the type in capitals', `a@x SSH-ED25519 ${blob}`, false],
  ['a key without its type', `a@x ${blob}`, false],
  ['no principal', key, false],
  ['two principals without a comma', `a@x b@x ${key}`, false],
  ['several principals', `a@x,b@x ${key}`, true],
  ['quoted principals', `"a@x,b@x" ${key}`, true],
  ['a quoted principal with a space', `"a b@x" ${key}`, true],
  ['a quote within a principal', `a"@x" ${key}`, true],
  ['an open quote in a principal', `"a@x ${key}`, false],
  ['a quote that ends a word', `"a@x"${key}`, true],
  ['an empty principal', `"" ${key}`, false],
  ['a comma before the principal', `,a@x ${key}`, false],
  ['two commas between principals', `a@x,,b@x ${key}`, true],
  ['a comma after the principal', `a@x, ${key}`, true],
  ['a pattern as principal', `*@x ${key}`, true],
  ['a negated principal', `!a@x ${key}`, false],
  ['a principal that is negated later', `a@x,!a@x ${key}`, false],
  ['one of two principals negated', `a@x,!a@x,b@x ${key}`, true],
  ['all but one', `*,!a@x ${key}`, true],
  ['none but one, by patterns', `a@x,!*@x ${key}`, false],
  ['a pattern of octets', `ü,!?? ${key}`, false],
  ['a negated line, then a good one', `!a@x ${key}\na@x ${key}`, false],
  ['a principal of 1,022 octets', `${long(1_022)} ${key}`, true],
  ['a principal of 1,023 octets', `${long(1_023)} ${key}`, false],
  ['a long principal behind a good one', `a@x,${long(1_023)} ${key}`, false],
  ['its namespace', `a@x namespaces="git" ${key}`, true],
  ['another namespace', `a@x namespaces="file" ${key}`, false],
  ['a namespace in capitals', `a@x namespaces="GIT" ${key}`, false],
  ['a pattern of namespaces', `a@x namespaces="g?*" ${key}`, true],
  ['a negated namespace', `a@x namespaces="*,!git" ${key}`, false],
  ['namespaces with a space', `a@x namespaces="file, git" ${key}`, false],
  ['namespaces without quotes', `a@x namespaces=git ${key}`, false],
  ['namespaces with one quote', `a@x namespaces="git ${key}`, false],
  ['namespaces in single quotes', `a@x namespaces='git' ${key}`, false],
  ['a quote that is escaped', `a@x namespaces="git,\\"" ${key}`, true],
  ['namespaces twice', `a@x namespaces="git",namespaces="git" ${key}`, false],
  ['no namespaces', `a@x namespaces="" ${key}`, false],
  ['no namespaces, then a good line', `a@x namespaces="" ${key}\na@x ${key}`, true, noNamespace],
  ['an option without a value', `a@x namespaces ${key}`, false],
  ['a space around the sign', `a@x namespaces = "git" ${key}`, false],
  ['text behind a value', `a@x namespaces="git"x ${key}`, false],
  ['options in any case', `a@x NameSpaces="git",VALID-BEFORE="20270101Z" ${key}`, true],
  ['a comma behind the options', `a@x namespaces="git", ${key}`, false],
  ['a comma before the options', `a@x ,namespaces="git" ${key}`, true],
  ['two commas between options', `a@x namespaces="git",,valid-before="20270101Z" ${key}`, true],
  ['a space between options', `a@x namespaces="git", valid-before="20270101Z" ${key}`, false],
  ['an unknown option', `a@x no-touch-required ${key}`, false],
  ['an unknown option elsewhere', `b@x foo="x" ${other}\na@x ${key}`, true, badLine],
  ['an option in front', `namespaces="git" a@x ${key}`, false],
  ['an authority', `a@x cert-authority ${key}`, false],
  ['an authority elsewhere', `*@x cert-authority ${other}\na@x ${key}`, true, authority],
  ['a time window', `a@x valid-after="20260101Z",valid-before="20270101Z" ${key}`, true],
  ['the second it ends', `a@x valid-before="20260501120000Z" ${key}`, true],
  ['a second later', `a@x valid-before="20260501115959Z" ${key}`, false],
  ['the second it begins', `a@x valid-after="20260501120000Z" ${key}`, true],
  ['a second earlier', `a@x valid-after="20260501120001Z" ${key}`, false],
  ['a small z', `a@x valid-before="20260501120000z" ${key}`, true],
  ['UTC in letters', `a@x valid-before="20260501120000UTC" ${key}`, true],
  ['minutes', `a@x valid-before="202605011200Z" ${key}`, true],
  ['no z at all', `a@x valid-before="20270101" ${key}`, true, notUtc],
  ['hours alone', `a@x valid-before="2027010112Z" ${key}`, false],
  ['an offset', `a@x valid-before="20270101120000+0000" ${key}`, false],
  ['the 31st of February', `a@x valid-before="20270231Z" ${key}`, true, noSuchTime],
  ['the 61st minute', `a@x valid-before="202701011260Z" ${key}`, false],
  ['a leap second', `a@x valid-before="20270101235960Z" ${key}`, true, noSuchTime],
  ['the 25th hour', `a@x valid-before="202701012500Z" ${key}`, false],
  ['hour 24', `a@x valid-before="202701012400Z" ${key}`, false],
  ['the 13th month', `a@x valid-before="20271301Z" ${key}`, false],
  ['the year 70', `a@x valid-after="00700101Z" ${key}`, false],
  ['the year 1970', `a@x valid-after="19700101Z" ${key}`, false],
  ['the first second', `a@x valid-after="19700101000001Z" ${key}`, true],
  ['a time twice', `a@x valid-before="20270101Z",valid-before="20280101Z" ${key}`, false],
  ['a time without quotes', `a@x valid-before=20270101Z ${key}`, false],
  [
    'an end before the beginning',
    `a@x valid-after="20270101Z",valid-before="20260101Z" ${key}`,
    false,
  ],
  [
    'an end at the beginning',
    `a@x valid-after="20260501120000Z",valid-before="20260501120000Z" ${key}`,
    false,
  ],
  ['an expired line, then a good one', `a@x valid-before="20250101Z" ${key}\nb@x ${key}`, true],
  ['a line for another use, then one', `a@x namespaces="file" ${key}\na@x ${key}`, true],
  ['a line of another person for another use', `b@x namespaces="file" ${key}\na@x ${key}`, false],
  ['one that is also that person', `b@x namespaces="file" ${key}\na@x,b@x ${key}`, true],
  ['a bad line before', `nonsense\na@x ${key}`, true, badLine],
  ['a bad line after', `a@x ${key}\nnonsense`, true, badLine],
  ['a line of another type', `a@x ssh-rsa AAAAB3NzaC1yc2E=\na@x ${key}`, true],
  ['a NUL in a comment', `a@x ${key} x\0y`, true, strange],
  ['a NUL before the key', `a@x\0 ${key}`, false],
]

let box: GitSandbox
let removeBox = (): void => undefined
beforeAll(() => {
  box = gitSandbox((remove) => void (removeBox = remove))
  box.write('signature', makeSshSignature(Buffer.from('text'), 'git', alice))
})
afterAll(() => removeBox())

test('is of one mind with OpenSSH, or stricter as the page says', () => {
  const page = readFileSync('docs/operations/trust.md', 'utf8').replace(/\s+/g, ' ')
  assert.equal(new Set(rows.map(([title]) => title)).size, rows.length)
  for (const [title, file, openssh, stricter] of rows) {
    assert.equal(isBelieved(file), openssh && stricter === undefined, title)
    if (stricter !== undefined)
      assert(page.includes(stricter), `the page does not say: ${stricter}`)
  }
})

test('the table says what OpenSSH says, asked as git does', () => {
  for (const [title, file, openssh] of laneRows(rows, (_row, i) => i % 9 === 0)) {
    assert.equal(isBelievedBySsh(file), openssh, title)
  }
})

function isBelieved(file: string): boolean {
  const signers = parseAllowedSigners(file)
  if (!signers.ok) return false
  const { publicKey } = alice
  return findSigner(signers.value, { publicKey, namespace: 'git', atSeconds }).ok
}

test('believes no random file that OpenSSH does not', () => {
  const space = fc.constantFrom(' ', ' ', ' ', '\t', '  ', '\r', '\v', '\u00a0', '')
  const principals = fc.constantFrom(
    ...['a@x', '"a@x"', 'a@x,', ',a@x', '!a@x,a@x', '*,!b@x', '!*', 'a"@"x', '\\"a@x', '#a'],
  )
  const times = fc.constantFrom('20260501120000Z', '20260501115959Z', '2027Z', '20270101', '')
  const option = fc.oneof(
    times.map((time) => `valid-before="${time}"`),
    times.map((time) => `Valid-After="${time}"`),
    fc.constantFrom('namespaces="git"', 'namespaces="!git,*"', 'namespaces="g*",', '', 'x', '\\"'),
  )
  const options = fc.array(option, { maxLength: 3 }).map((all) => all.join(','))
  const rest = fc.constantFrom('', ' x', ' "', '\r', '\r\r', '\0', '=', ' #')
  const line = fc
    .tuple(space, principals, space, options, space, rest)
    .map(([a, names, b, given, c, end]) => `${a}${names}${b}${given}${c}${key}${end}`)
  const files = fc.array(line, { minLength: 1, maxLength: 2 }).map((lines) => lines.join('\n'))
  const sample = fc.sample(files, { seed: testSeed, numRuns: laneCount(20_000, 1_000) })
  const believed = [...new Set(sample)].filter(isBelieved).slice(0, laneCount(150, 10))
  assert(believed.length >= 10)
  for (const file of believed) assert(isBelievedBySsh(file), JSON.stringify(file))
})

/** As `git verify-commit`: whose the key is, then whether one of them may sign. */
function isBelievedBySsh(file: string): boolean {
  writeFileSync(box.at('signers'), file)
  const common = [
    '-f',
    box.at('signers'),
    '-s',
    box.at('signature'),
    '-Overify-time=20260501120000Z',
  ]
  const found = succeeds(['-Y', 'find-principals', ...common])
  const principals = (found ?? '').split('\n').filter((line) => line !== '')
  return principals.some(
    (one) => succeeds(['-Y', 'verify', '-n', 'git', '-I', one, ...common]) !== undefined,
  )
}

/** undefined: it ends with an error. */
function succeeds(args: readonly string[]): string | undefined {
  try {
    const env = { PATH: process.env['PATH'], HOME: box.path, LC_ALL: 'C' }
    return runProgram('ssh-keygen', args, { env, input: 'text' }).toString()
  } catch {
    return undefined
  }
}
