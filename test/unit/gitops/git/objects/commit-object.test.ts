import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { test } from 'vitest'
import { formatCommit, parseCommit } from '#gitops/git/objects/commit-object.ts'
import { parsePublicKeyLine } from '#gitops/trust/openssh-key.ts'
import { parseSshSignature, verifySshSignature } from '#gitops/trust/sshsig.ts'
import { gitSandbox } from '../../../../support/git-sandbox.ts'
import { runProgram } from '../../../../support/run-program.ts'

const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const who = 'A <a@x> 1790000000 +0000'
const plain = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nsubject\n\nbody\n`

test('finds the bytes that git signed', () => {
  const box = gitSandbox()
  const key = box.sshKey('alice')
  box.git(box.path, 'init', '-q', '-b', 'main', 'repo')
  const repo = box.at('repo')
  for (const message of ['first\n\ngpgsig not a header\n', 'zweiter – ünïcode']) {
    box.git(repo, ...box.signWith(key), 'commit', '-q', '-S', '--allow-empty', '-m', message)
    const raw = runProgram('git', ['-C', repo, 'cat-file', 'commit', 'HEAD'])
    const commit = parseCommit(raw)
    assert(commit.ok)
    const signature = parseSshSignature(commit.value.signature)
    const line = parsePublicKeyLine(key.publicLine)
    assert(signature.ok && line.ok)
    assert(verifySshSignature(signature.value, commit.value.payload, 'git', line.value.publicKey))
    assert.equal(commit.value.author.name, 'Alice <alice@example.com>')
    assert.equal(commit.value.subject, message.split('\n')[0])
  }
})

test('reads tree, parents, times and subject', () => {
  const parent = 'a'.repeat(40)
  const commit = parseCommit(Buffer.from(plain.replace('author', `parent ${parent}\nauthor`)))
  assert(commit.ok)
  assert.equal(commit.value.tree, tree)
  assert.deepEqual(commit.value.parents, [parent])
  assert.equal(commit.value.committer.seconds, 1_790_000_000)
  assert.equal(commit.value.subject, 'subject')
  assert.equal(commit.value.signature, '')
})

const [one, other] = ['a'.repeat(40), 'b'.repeat(40)] as const
const named: readonly [message: string, back: readonly string[], reverts?: string[]][] = [
  [`Revert "x"\n\nThis reverts commit ${one}.\n`, [], [`${one}^`]],
  [`x\n\nThis reverts commit ${one}, reversing\nchanges made to ${other}.\n`, [], [other]],
  ['x\n\nThis reverts commit aaaaaaa (x, 2026-01-01).\n', [], ['aaaaaaa^']],
  [`x\n\nGslb-Back: ${one}\n`, [one]],
  ['x\n\ngslb-back: aaaaaaa^\nGslb-Back: bbbbbbb\n', ['aaaaaaa^', 'bbbbbbb']],
  [`x\n\nGslb-Back: ${other}\n\nThis reverts commit ${one}.\n`, [], [`${one}^`]],
  [`x\n\nThis reverts commit ${one}.\n\nGslb-Back: ${other}\n`, [other], [`${one}^`]],
  [`x\n\nGslb-Back: ${one.toUpperCase()}\n`, [one]],
  ['x\n\nGslb-Back: HEAD\n', []],
  ['x\n\nGslb-Back: aaaaaa\n', []],
  [`x\n\nGslb-Back: ${one}a\n`, []],
  [`x, and this reverts commit ${one}.\n`, []],
  [`x\n\nThis reverts commit ${'a'.repeat(6)}.\n`, []],
  [`x\n\n${`This reverts commit ${one}.\n`.repeat(99)}`, [], Array<string>(16).fill(`${one}^`)],
]
for (const [message, back, reverts = []] of named) {
  test(`reads what a commit goes back to: ${JSON.stringify(message.slice(0, 90))}`, () => {
    const commit = parseCommit(Buffer.from(plain.replace('subject\n\nbody\n', message)))
    assert(commit.ok)
    assert.deepEqual([commit.value.back, commit.value.reverts], [back, reverts])
  })
}

const refused: readonly [title: string, text: string, says: RegExp][] = [
  ['two trees', plain.replace('author', `tree ${tree}\nauthor`), /wrong order/],
  [
    'a parent after the committer',
    plain.replace('\n\n', `\nparent ${tree}\n\n`),
    /wrong order|repeats/,
  ],
  ['two signatures', plain.replace('\n\n', '\ngpgsig a\ngpgsig b\n\n'), /more than one signature/],
  [
    'a signature for another hash',
    plain.replace('\n\n', '\ngpgsig-sha256 a\n\n'),
    /more than one signature/,
  ],
  ['a short tree id', plain.replace(tree, 'abc'), /damaged tree/],
  ['a tree id in capitals', plain.replace(tree, tree.toUpperCase()), /damaged tree/],
  ['no committer', plain.replace(/committer.*\n/, ''), /wrong order/],
  [
    'a committer without a time',
    plain.replace(/committer.*\n/, 'committer A <a@x>\n'),
    /damaged author or committer/,
  ],
  ['headers only', plain.slice(0, 60), /ends inside a header/],
  ['a header without a value', plain.replace('\n\n', '\nodd\n\n'), /header without a value/],
  ['too many bytes', plain + 'x'.repeat(300_000), /larger than/],
  ['too many headers', plain.replace('\n\n', `${'\nx y'.repeat(2_000)}\n\n`), /too many headers/],
]
for (const [title, text, says] of refused) {
  test(`refuses ${title}`, () => {
    const commit = parseCommit(Buffer.from(text))
    assert(!commit.ok)
    assert.match(commit.error, says)
  })
}

test('a written commit reads back as itself, signature apart', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.boolean(), (message, isSigned) => {
      const author = { name: 'A <a@x>', seconds: 1 }
      const draft = { tree, parents: [], author, committer: author, message }
      const unsigned = formatCommit(draft, () => '')
      const raw = formatCommit(draft, () => (isSigned ? 'line one\nline two\n' : ''))
      const commit = parseCommit(raw)
      assert(commit.ok)
      assert.deepEqual(commit.value.payload, unsigned)
      assert.equal(commit.value.signature, isSigned ? 'line one\nline two' : '')
    }),
  )
})

test('any bytes are either a commit or an error, never a throw', () => {
  const unit = fc.constantFrom(
    'tree ',
    tree,
    '\n',
    ' ',
    'parent ',
    'author ',
    who,
    'committer ',
    'gpgsig ',
    '\0',
  )
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
      parseCommit(Buffer.from(text))
    }),
  )
})

test('any message names commits, and few of them', () => {
  const unit = fc.constantFrom(
    'This reverts commit ',
    ', reversing\nchanges made to ',
    'Gslb-Back: ',
    ...[one, other.slice(0, 7), 'HEAD', '^', '\n', '\n\n', ' ', 'x', '\0', '#'],
  )
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), (message) => {
      const commit = parseCommit(Buffer.from(plain.replace('body\n', () => message)))
      assert(commit.ok && commit.value.back.length <= 16 && commit.value.reverts.length <= 16)
      for (const name of [...commit.value.back, ...commit.value.reverts])
        assert.match(name, /^[0-9a-f]{7,40}\^?$/)
    }),
  )
})

const corpus = new URL('../../../../fuzz/corpus/git-commit/', import.meta.url)
for (const name of readdirSync(corpus)) {
  test(`refuses the seed ${name}`, () => {
    assert.equal(parseCommit(readFileSync(new URL(name, corpus))).ok, false)
  })
}
