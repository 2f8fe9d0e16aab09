import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { parseCommit } from '#gitops/git/objects/commit-object.ts'
import { trailerValues } from '#gitops/git/objects/trailers.ts'
import { gitSandbox } from '../../../../support/git-sandbox.ts'
import type { GitSandbox } from '../../../../support/git-sandbox.ts'
import { laneCount } from '../../../../support/lane.ts'
import { testSeed } from '../../../../support/random.ts'

const key = 'Gslb-Override'
const cut = '# ------------------------ >8 ------------------------\n'
const signed = 'Signed-off-by: A <a@x>\n'

/** The table includes git's result for each text, so that it can be read without git. */
const messages: readonly [title: string, message: string, values: readonly string[]][] = [
  ['its own paragraph', 'Close\n\nGslb-Override: over\n', ['over']],
  ['no line feed at the end', 'Close\n\nGslb-Override: over', ['over']],
  ['empty lines after it', 'Close\n\nGslb-Override: over\n\n \n\n', ['over']],
  ['any case', 'Close\n\nGSLB-override: over\n', ['over']],
  ['no space after the colon', 'Close\n\nGslb-Override:over\n', ['over']],
  ['spaces before the colon', 'Close\n\nGslb-Override \t: over\n', ['over']],
  ['among other trailers', 'Close\n\nTicket: 7\nGslb-Override: over\nRef: 8\n', ['over']],
  ['twice', 'Close\n\nGslb-Override: one\nGslb-Override: two\n', ['one', 'two']],
  ['no value', 'Close\n\nGslb-Override:\n', ['']],
  ['folded', 'Close\n\nGslb-Override: over\n  two lines\n', ['over two lines']],
  ['folded by a tab, thrice', 'Close\n\nGslb-Override:\n\ta\n \t b\n c\n', ['a b c']],
  ['the first paragraph', 'Gslb-Override: over\n', []],
  ['the line below the subject', 'Close\nGslb-Override: over\n', []],
  ['prose above it', 'Close\n\nIt is done.\nGslb-Override: over\n', []],
  ['prose below it', 'Close\n\nGslb-Override: over\nas we said.\n', []],
  ['a word in prose', 'Close\n\nWrite Gslb-Override: over to release it.\n', []],
  ['not the last paragraph', 'Close\n\nGslb-Override: over\n\nThat is all.\n', []],
  ['a quotation', 'Close\n\n> Gslb-Override: over\n', []],
  ['an indented line', 'Close\n\n Gslb-Override: over\n', []],
  ['an item of a list', 'Close\n\n- Gslb-Override: over\n', []],
  ['a space in the key', 'Close\n\nGslb Override: over\n', []],
  ['an underscore in the key', 'Close\n\nGslb_Override: over\n', []],
  ['another separator', 'Close\n\nGslb-Override= over\n', []],
  ['a line that git made, and a fifth', `Close\n\na\nb\nc\nd\n${signed}Gslb-Override: o\n`, ['o']],
  ['a quarter', `Close\n\na\nb\nc\nd\ne\nf\n${signed}Gslb-Override: o\n`, ['o']],
  ['less than a quarter', `Close\n\na\nb\nc\nd\ne\nf\ng\n${signed}Gslb-Override: o\n`, []],
  ['a cherry pick', 'C\n\na\nGslb-Override: o\n(cherry picked from commit 1)\n', ['o']],
  ['what git would write otherwise', 'C\n\na\nSigned-off-by:x\nGslb-Override: o\n', []],
  ['three dashes below it', 'Close\n\nGslb-Override: over\n---\n 1 file changed\n', []],
  ['three dashes above it', 'Close\n\n---\nGslb-Override: over\n', []],
  ['three dashes in a paragraph above', 'Close\n\n---\n\nGslb-Override: over\n', ['over']],
  ['a diff after three dashes', 'C\n\nGslb-Override: o\n---\n a | 2 +-\n\ndiff --git a b\n', []],
  ['above the cut', `Close\n\nGslb-Override: over\n${cut}diff\n`, ['over']],
  ['below the cut', `Close\n${cut}\nGslb-Override: over\n`, []],
  ['a cut in its first line', `${cut}Close\n\nGslb-Override: over\n`, []],
  ['a cut that is longer', `C\n\n${cut.trim()}-\nGslb-Override: over\n`, ['over']],
  ['comments below it', 'Close\n\nGslb-Override: over\n# Please enter\n#\n', ['over']],
  ['a comment', 'Close\n\n# Gslb-Override: over\n', []],
  ['a comment above it', 'Close\n\n# Please\nGslb-Override: over\n', ['over']],
  ['a comment in its fold', 'Close\n\nGslb-Override: over\n# x\n two\n', []],
  ['a comment as first line', '# Close\nx\n\nGslb-Override: over\n', ['over']],
  ['only comments above', '# Close\n\nGslb-Override: over\n', ['over']],
  ['conflicts below it', 'C\n\nGslb-Override: over\n\nConflicts:\n\ta.yaml\n\tb.yaml\n', ['over']],
  ['conflicts with more below', 'C\n\nGslb-Override: o\n\nConflicts:\n\ta\nend\n', []],
  ['carriage returns', 'Close\r\n\r\nGslb-Override: over\r\n', ['over']],
  ['carriage returns in a fold', 'C\r\n\r\nGslb-Override: a\r\n b\r\n', ['a\r b']],
  ['carriage returns alone', 'Close\r\rGslb-Override: over\r', []],
  ['empty lines before all', '\n \n\nClose\n\nGslb-Override: over\n', ['over']],
  ['an empty line of spaces', 'Close\n \t\nGslb-Override: over\n', ['over']],
  ['an empty line of a form feed', 'Close\n\f\nGslb-Override: over\n', []],
  ['an empty line of a wide space', 'Close\n\u3000\nGslb-Override: over\n', []],
  ['a wide space before it', 'Close\n\n\u00a0Gslb-Override: over\n', []],
  ['a wide space before the colon', 'Close\n\nGslb-Override\u00a0: over\n', []],
  ['a wide space after the colon', 'Close\n\nGslb-Override:\u00a0over\n', ['\u00a0over']],
  ['a fold of a wide space', 'Close\n\nGslb-Override: over\n\u2003two\n', []],
  ['a line separator', 'Close\n\u2028\u2028Gslb-Override: over\n', []],
  ['a hyphen that is none', 'Close\n\nGslb\u2011Override: over\n', []],
  ['a letter that folds to one of the key', 'Close\n\nG\u017flb-Override: over\n', []],
  ['letters of a reason', 'Close\n\nGslb-Override: für später – 終了\n', ['für später – 終了']],
  ['what follows a NUL', 'Close\n\nGslb-Override: over\0\n\nprose\n', ['over']],
  ['a NUL before it', 'Close\0\n\nGslb-Override: over\n', []],
  ['nothing', '', []],
  ['only empty lines', '\n\n \n', []],
]

let box: GitSandbox
let removeBox = (): void => undefined
beforeAll(() => {
  box = gitSandbox((remove) => void (removeBox = remove))
  box.git(box.path, 'init', '-q', '--bare', '-b', 'main', 'repo')
})
afterAll(() => removeBox())

test('finds in each message of the table what git finds', () => {
  const asked = messages.map(([, message]) => Buffer.from(message))
  const said = valuesOfGit(asked)
  for (const [i, [title, , values]] of messages.entries()) {
    assert.deepEqual(said[i], values, `git: ${title}`)
    assert.deepEqual(trailerValues(asked[i]!, key), values, title)
  }
})

test('finds in random messages what git finds', () => {
  const trailer = Buffer.from('Gslb-Override: a\n')
  const piece = fc.constantFrom(
    ...['Gslb-Override: a\n', 'gslb-override :\n', 'Gslb-Override: ', 'Ticket: 7\n', 'Close it\n'],
    ...[signed, '(cherry picked from commit 1)\n', 'Signed-off-by:', 'Conflicts:\n', '\tx\n', cut],
    ...['\n', '\n\n', ' \n', ' b\n', '\r\n', '\r', '# c\n', '#', '---\n', '\t', ':', '-', 'x\n'],
    ...['\f', '\v', '\u00a0', '\u3000', '\u0085', '\u2028', '\ufeff', 'é\n', '\0', '(', '> '],
  )
  const some = (maxLength: number): fc.Arbitrary<Buffer> =>
    fc.array(piece, { maxLength }).map((all) => Buffer.from(all.join('')))
  const near = fc
    .tuple(some(3), some(4), some(4))
    .map(([a, b, c]) => Buffer.concat([a, Buffer.from('\n\n'), b, trailer, c]))
  const bytes = fc.tuple(some(7), fc.uint8Array({ maxLength: 6 }), some(7))
  const any = fc.oneof(
    some(14),
    near,
    near,
    bytes.map((parts) => Buffer.concat(parts)),
  )
  const asked = fc.sample(any, { seed: testSeed, numRuns: laneCount(10_000, 500) })
  const said = valuesOfGit(asked)
  const found = asked.map((each) => trailerValues(each, key))
  for (const [i, values] of found.entries()) {
    assert.deepEqual(values, said[i], JSON.stringify(asked[i]!.toString()))
  }
  assert(found.filter((values) => values.length > 0).length > asked.length / 20)
})

test('reads a message in the encoding that the commit names, as git does', () => {
  const rows: readonly [encoding: string, message: Buffer, values: readonly string[]][] = [
    ['ISO-8859-1', Buffer.from('C\n\nGslb-Override: f\xfcr\n', 'latin1'), ['für']],
    ['utf8', Buffer.from('C\n\nGslb-Override: für\n'), ['für']],
    ['Shift_JIS', Buffer.from('C\n\nGslb-Override: \x83\x5c\n', 'latin1'), ['ソ']],
  ]
  for (const [encoding, message, values] of rows) {
    assert.deepEqual(valuesOfGit([message], encoding), [values], `git: ${encoding}`)
    assert.deepEqual(trailerValues(message, key, encoding), values, encoding)
  }
  const unknown = commitOf(Buffer.from('C\n\nGslb-Override: over\n'), 'utf-7')
  const commit = parseCommit(unknown)
  assert(commit.ok)
  assert.equal(commit.value.override, '')
})

test('a reason is one line of at most 200 characters, the first that is given', () => {
  const rows: readonly [message: string, override: string][] = [
    ['C\n\nGslb-Override:\nGslb-Override: second\n', 'second'],
    ['C\n\nGslb-Override: \u00a0\n', ''],
    ['C\n\nGslb-Override: a\x1b[2J\r\n b\n', 'a?[2J? b'],
    [`C\n\nGslb-Override: ${'x'.repeat(300)}\n`, 'x'.repeat(200)],
  ]
  for (const [message, override] of rows) {
    const commit = parseCommit(commitOf(Buffer.from(message), ''))
    assert(commit.ok)
    assert.equal(commit.value.override, override)
  }
})

test('costs time that grows with the length alone', () => {
  for (const unit of ['Gslb-Override: a\n', ' \n', '\n', ' b\n', ' \r', '# \n', 'a', 'a ']) {
    const message = Buffer.from(`C\n\nGslb-Override: a\n${unit.repeat(100_000)}x\n b`)
    const before = process.cpuUsage()
    trailerValues(message, key)
    const { user } = process.cpuUsage(before)
    assert(user < 2_000_000, JSON.stringify(unit))
  }
})

/** By one git for all: the messages as loose objects, in any octets. */
function valuesOfGit(all: readonly Uint8Array[], encoding = ''): (readonly string[])[] {
  const ids = all.map((message) => storeCommit(commitOf(message, encoding)))
  const format = `%x01%(trailers:key=${key},unfold,separator=%x02)%x03`
  const args = ['-C', box.at('repo'), 'log', '--stdin', '--no-walk=unsorted', `--format=${format}`]
  const said = box.run('git', args, `${[...new Set(ids)].join('\n')}\n`)
  const byId = new Map([...new Set(ids)].map((id, i) => [id, partsOf(said.split('\x03\n')[i])]))
  return ids.map((id) => byId.get(id)!)
}

function partsOf(said = ''): readonly string[] {
  const text = said.replace(/^\x01/, '').replace(/\x03$/, '')
  return text === '' ? [] : text.split('\x02').map((line) => line.replace(/^[^:]*: /, ''))
}

function commitOf(message: Uint8Array, encoding: string): Buffer {
  const headers =
    'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n' +
    'author A <a@x> 1790000000 +0000\ncommitter A <a@x> 1790000000 +0000\n' +
    (encoding === '' ? '' : `encoding ${encoding}\n`)
  return Buffer.concat([Buffer.from(`${headers}\n`), message])
}

function storeCommit(commit: Buffer): string {
  const object = Buffer.concat([Buffer.from(`commit ${commit.length}\0`), commit])
  const id = createHash('sha1').update(object).digest('hex')
  mkdirSync(box.at('repo', 'objects', id.slice(0, 2)), { recursive: true })
  writeFileSync(box.at('repo', 'objects', id.slice(0, 2), id.slice(2)), deflateSync(object))
  return id
}
