// A case gives the octets that it shows, and holds nothing that a reader of it cannot see.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { diagnosticCase, parseCase, sourcesOf, unpackCase } from '#test/support/case-file.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { readConfigDirectory } from '#gitops/checkout/config-directory.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const end = '-- expected --\n'
const parse = (text: string) => parseCase(Buffer.from(text, 'latin1'))

test.each([
  ['lines', '-- a --\none\n\n  two\n', 'one\n\n  two\n'],
  ['an empty file', '-- a --\n', ''],
  ['a backslash', '-- a --\n\\x41 \\\n', '\\x41 \\\n'],
  ['an escaped backslash', '-- a (escaped) --\n\\\\x41\\\\\n', '\\x41\\\n'],
  ['any octet', '-- a (escaped) --\n\\xe9\\x00\\x09\\x0d\n', '\xe9\0\t\r\n'],
  ['space at the end of a line', '-- a (escaped) --\na\\x20\nb\n', 'a \nb\n'],
  ['no newline at the end', '-- a (escaped) --\na\nb \\\n', 'a\nb '],
  ['a backslash, then no newline', '-- a (escaped) --\n\\\\\\\n', '\\'],
  ['nothing at all', '-- a (escaped) --\n\\\n', ''],
  ['what looks like a marker', '-- a (escaped) --\n\\x2d- b --\n', '-- b --\n'],
])('a section holds %s', (_, section, expected) => {
  const { files } = parse(`${section}${end}`)
  expect([...files.keys()]).toEqual(['a'])
  expect(Buffer.from(files.get('a')!).toString('latin1')).toBe(expected)
})

test('the last section is what is expected', () => {
  const { files, expected } = parse(`-- a b/c.yaml --\nx\n${end}a b/c.yaml:1:1\n`)
  expect([[...files.keys()], expected]).toEqual([['a b/c.yaml'], 'a b/c.yaml:1:1\n'])
})

test.each([
  ['a tab', `-- a --\nb\n\tc\n${end}`, 'line 3 has what nobody sees'],
  ['a carriage return', `-- a --\r\n${end}`, 'line 1 has what nobody sees'],
  ['space at the end of a line', `-- a --\nb \n${end}`, 'line 2 has what nobody sees'],
  ['a byte order mark', `\xef\xbb\xbf-- a --\n${end}`, 'line 1 has what nobody sees'],
  ['a change of direction', `-- a --\n\xe2\x80\xae\n${end}`, 'line 2 has what nobody sees'],
  ['a space that is none', `-- a --\nb\xc2\xa0c\n${end}`, 'line 2 has what nobody sees'],
  ['what is no UTF-8', `-- a --\n\xe9\n${end}`, 'not valid'],
  ['a last line without an end', '-- expected --', 'the last line does not end'],
  ['a line before the first marker', `b\n${end}`, 'the first line is no marker'],
  ['nothing', '\n', 'the first line is no marker'],
  ['a path twice', `-- a --\n-- a --\n${end}`, 'a is there twice'],
  ['nothing that is expected', '-- a --\nb\n', 'the last section is not "expected"'],
  ['a section after it', `${end}-- a --\n`, 'the last section is not "expected"'],
  ['an escape without octet', `-- a (escaped) --\n\\xg0\n${end}`, 'a has an unknown escape'],
  ['a joined line', `-- a (escaped) --\nb\\\nc\n${end}`, 'a has an unknown escape'],
])('refuses %s', (_, text, message) => {
  expect(() => parse(text)).toThrow(message)
})

test.each(['file-not-utf8', 'tenant-folder-name', 'file-outside'])(
  'a compiler gets of the case %s what it gets of its directory',
  (code) => {
    const given = diagnosticCase(code)
    const directory = unpackCase(given, tempDir())
    const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    const files = paths.filter((path) => statSync(join(directory, path)).isFile())
    expect(files.toSorted()).toEqual([...given.files.keys()].toSorted())
    for (const path of files) {
      const octets = Buffer.from(given.files.get(path)!)
      expect(readFileSync(join(directory, path)).equals(octets)).toBe(true)
    }
    const read = readConfigDirectory(directory)
    const listed = (read.ok ? read.value : []).toSorted((a, b) => (a.path < b.path ? -1 : 1))
    const ours = sourcesOf(given).toSorted((a, b) => (a.path < b.path ? -1 : 1))
    const plain = ({ path, kind, sizeBytes, bytes }: SourceFile) => {
      return { path, kind, sizeBytes, octets: bytes === null ? null : Buffer.from(bytes) }
    }
    expect(ours.map(plain)).toEqual(listed.map(plain))
  },
)
