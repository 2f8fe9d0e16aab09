// Reads a case that is one file: a configuration and, as its last section, what is expected of it.
//
//     -- gslb.yaml --
//     apiVersion: gslb/v1
//     ...
//     -- tenants/default/pools/web.yaml (escaped) --
//     metadata: { name: caf\xe9 }
//     -- expected --
//     tenants/default/pools/web.yaml:1:25
//
// A marker opens a section. The lines up to the next marker are the octets of the file at that
// path. What nobody sees (a tab, another control or format character, space at the end of a line)
// is refused, so that it is written in an escaped section, which knows:
//
//     \xNN   one octet
//     \\     a backslash
//     \      as the last character of the section: the file does not end with a newline
import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isRead } from '#compiler/read/layout.ts'
import type { SourceFile } from '#compiler/read/source.ts'

export interface CaseFile {
  /** Octets by path, without `expected`. */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly expected: string
}

/** Holds CODE.txtar for each code. */
export const diagnosticCases = join(import.meta.dirname, '../fixtures/diagnostics')

export function diagnosticCase(code: string): CaseFile {
  return parseCase(readFileSync(join(diagnosticCases, `${code}.txtar`)))
}

const marker = /^-- (.+?)( \(escaped\))? --\n/mu
const invisible = /[^\P{C}\n]|[^\P{Z} ]| $/mu

/** @throws the fault in the format */
export function parseCase(octets: Uint8Array): CaseFile {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets)
  const found = invisible.exec(text)
  if (found !== null) {
    const line = text.slice(0, found.index).split('\n').length
    throw new Error(`line ${line} has what nobody sees; write it in an escaped section`)
  }
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const [before, ...sections] = text.split(marker)
  if (before !== '') throw new Error('the first line is no marker')
  const files = new Map<string, Uint8Array>()
  for (let at = 0; at < sections.length; at += 3) {
    const [path = '', escaped, content = ''] = sections.slice(at, at + 3)
    if (files.has(path)) throw new Error(`${path} is there twice`)
    files.set(path, escaped === undefined ? Buffer.from(content) : unescaped(path, content))
  }
  const [last, expected] = [...files].at(-1)!
  if (last !== 'expected') throw new Error('the last section is not "expected"')
  files.delete(last)
  return { files, expected: new TextDecoder().decode(expected) }
}

function unescaped(path: string, content: string): Uint8Array {
  const pieces = content.split(/\\(x[\da-f]{2}|\\|\n$)/)
  const octets = pieces.map((piece, index) => {
    if (index % 2 === 1 && piece !== '\\') return Buffer.from(piece.slice(1), 'hex')
    if (index % 2 === 0 && piece.includes('\\')) throw new Error(`${path} has an unknown escape`)
    return Buffer.from(piece)
  })
  return Buffer.concat(octets)
}

/** The compiler's input; contents that a directory reader would not read are left out. */
export function sourcesOf({ files }: CaseFile): SourceFile[] {
  return [...files].map(([path, bytes]) => {
    const about = { path, kind: 'file', sizeBytes: bytes.length } as const
    return isRead(path)
      ? { ...about, blobId: hash('sha1', bytes), bytes }
      : { ...about, blobId: '', bytes: null }
  })
}

/** Writes the files below a directory. @returns the directory, for a command */
export function unpackCase({ files }: CaseFile, directory: string): string {
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), bytes)
  }
  return directory
}
