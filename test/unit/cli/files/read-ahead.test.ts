// Two threads read files of configuration: what they say is what one thread reads.
import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readFile } from '#compiler/read/read-file.ts'
import type { SourceFile } from '#compiler/read/source.ts'
import { ReadAhead } from '#cli/files/read-ahead.ts'

const fileOf = (path: string, bytes: Uint8Array): SourceFile => ({
  ...{ path, blobId: hash('sha1', bytes), kind: 'file', sizeBytes: bytes.length, bytes },
})
const text = (path: string, content: string): SourceFile => fileOf(path, Buffer.from(content))
const pool = (i: number, more = ''): string =>
  `apiVersion: gslb/v1\nkind: Pool\nmetadata: { name: p${i} }\nspec:\n  members:\n` +
  `    - { ipAddress: 192.0.2.${i % 250}, port: 443 }\n${more}`
const path = (i: number): string => `tenants/default/pools/p${i}.yaml`
const pools = Array.from({ length: 300 }, (_, i) => text(path(i), pool(i)))

const read = async (files: readonly SourceFile[], least = 1) => {
  const ahead = new ReadAhead(least)
  const found = await ahead.read(files)
  ahead.close()
  return found
}

describe('files that are read ahead', () => {
  test('say what they say to one thread, mistakes and their places too', async () => {
    const odd = [
      text(path(900), pool(900, '  colour: red\n')),
      text(path(901), 'kind: [\n'),
      text(path(902), ''),
      fileOf(path(903), Uint8Array.of(0x61, 0xff)),
    ]
    const all = [...pools, ...odd]
    const found = await read(all)
    expect(found.size).toBe(all.length)
    for (const { blobId, bytes } of all) {
      expect(found.get(blobId)).toEqual(readFile(blobId, bytes!))
    }
  })

  test('are read once where they have one content, and not where nobody reads them', async () => {
    const same = text('tenants/other/pools/p1.yaml', pool(1))
    const outside = text('README.md', 'words')
    const link: SourceFile = { ...pools[0]!, kind: 'symlink', bytes: null }
    const found = await read([...pools, same, outside, link])
    expect(found.size).toBe(pools.length)
  })

  test('are left to the compiler where they are few', async () => {
    expect((await read(pools, 1_000)).size).toBe(0)
  })
})
