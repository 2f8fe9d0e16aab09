import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { flushDirectory, writeDurably } from '#lib/durable-file.ts'
import { tempDir } from '#test/support/temp-dir.ts'

describe('a durable write', () => {
  const rows: readonly [string, Uint8Array | string, number][] = [
    ['text', 'grüß Gott', 11],
    ['bytes', new Uint8Array([0, 255, 10]), 3],
    ['nothing', '', 0],
    ['a megabyte', new Uint8Array(1_048_576).fill(7), 1_048_576],
  ]
  test.each(rows)('with %s can be read back', (_title, content, bytes) => {
    const path = join(tempDir(), 'file')
    writeDurably(path, content)
    expect(statSync(path).size).toBe(bytes)
    expect(readFileSync(path).equals(Buffer.from(content as string))).toBe(true)
  })

  test('makes the directories above it', () => {
    const path = join(tempDir(), 'a', 'b', 'file')
    writeDurably(path, 'x')
    expect(readFileSync(path, 'utf8')).toBe('x')
  })

  test('replaces a longer file whole and leaves nothing beside it', () => {
    const directory = tempDir()
    const path = join(directory, 'file')
    writeDurably(path, 'long '.repeat(1_000))
    writeDurably(path, 'short')
    expect(readFileSync(path, 'utf8')).toBe('short')
    expect(readdirSync(directory)).toEqual(['file'])
  })

  test('keeps a key from other users from its first byte on', () => {
    const path = join(tempDir(), 'key')
    writeDurably(path, 'k', 0o600)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('that fails throws, and leaves the old file and nothing beside it', () => {
    const directory = tempDir()
    const path = join(directory, 'occupied')
    mkdirSync(path)
    writeFileSync(join(path, 'inside'), 'old')
    expect(() => writeDurably(path, 'new')).toThrow(/EISDIR|ENOTEMPTY/)
    expect(readFileSync(join(path, 'inside'), 'utf8')).toBe('old')
    expect(readdirSync(directory)).toEqual(['occupied'])
  })

  test('below something that is not a directory throws', () => {
    const file = join(tempDir(), 'file')
    writeFileSync(file, '')
    expect(() => writeDurably(join(file, 'below'), 'x')).toThrow(/ENOTDIR|EEXIST/)
    expect(() => flushDirectory(join(file, 'below'))).toThrow(/ENOTDIR/)
  })

  test('is whole for every reader, and after kill -9 at any moment', async () => {
    const directory = tempDir()
    const path = join(directory, 'file')
    const contents = new Set<string>()
    for (const lines of [1, 3, 7, 20]) {
      const script = join(import.meta.dirname, 'durable-file-writer.ts')
      const child = spawn(process.execPath, [script, path], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(child, 'exit')
      for (let seen = 0; seen < lines;) {
        const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
        seen += chunk.length
        contents.add(readFileSync(path, 'utf8'))
      }
      child.kill('SIGKILL')
      await ended
      contents.add(readFileSync(path, 'utf8'))
    }
    for (const content of contents) {
      expect(content.length).toBe(200_000)
      expect(new Set(content).size).toBe(1)
    }
  })
})
