// What a process gives back to the system is out of its resident memory, and reads as before.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  lastingMappings,
  releaseFilePages,
  releaseZeroPages,
} from '#system/worker/release-memory.ts'

/** Node has it, but its types belong to browsers. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer }
}

function residentMib(kind: 'RssAnon' | 'RssFile'): number {
  const status = readFileSync('/proc/self/status', 'latin1')
  return Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024
}

test('pages of programs and libraries leave the process, and come back when they are used', () => {
  const before = residentMib('RssFile')
  releaseFilePages()
  expect(residentMib('RssFile')).toBeLessThan(before / 2)
  expect(hash('sha1', 'abc')).toBe('a9993e364706816aba3e25717850c26c9cd0d89d')
})

const mapping = (rights: string, file: string, anonymousKb: number): string =>
  `1000-3000 ${rights} 00000000 fe:00 42                 ${file}\nSize:                  8 kB\n` +
  `Rss:                   8 kB\nAnonymous:          ${anonymousKb} kB\nVmFlags: rd mr mw me\n`

test.each([
  ['the program', 'r-xp', '/opt/node/bin/node', 0, true],
  ['a library', 'r--p', '/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30', 0, true],
  ['a library of which a page was written', 'r--p', '/usr/lib/libc.so.6', 4, false],
  ['a library that may be written', 'rw-p', '/usr/lib/libc.so.6', 0, false],
  ['a list of libraries, which is there for a moment', 'r--p', '/etc/ld.so.cache', 0, false],
  ['an add-on, which a thread may take with it', 'r-xp', '/opt/gslbd/koffi.node', 0, false],
  ['a program that was replaced', 'r-xp', '/opt/node/bin/node (deleted)', 0, false],
  ['memory without a file', 'r--p', '', 0, false],
])('whether pages of %s are released', (_, rights, file, anonymousKb, isReleased) => {
  const smaps = mapping('rw-p', '[heap]', 8) + mapping(rights, file, anonymousKb)
  const expected = isReleased ? [{ address: 0x1000, bytes: 0x2000 }] : []
  expect(lastingMappings(smaps, '/opt/node/bin/node')).toEqual(expected)
})

test('pages of zeros leave the memory of WebAssembly, which reads as before', () => {
  const memory = Buffer.from(new WebAssembly.Memory({ initial: 1_024 }).buffer).fill(1)
  memory.fill(0, 65_537, memory.length - 2)
  const before = residentMib('RssAnon')
  releaseZeroPages(memory)
  expect(residentMib('RssAnon')).toBeLessThan(before - 60)
  expect(memory.subarray(0, 65_538)).toEqual(Buffer.alloc(65_538, 1).fill(0, 65_537))
  expect(memory.subarray(65_537, -2).equals(Buffer.alloc(memory.length - 65_539))).toBe(true)
  expect([...memory.subarray(-3)]).toEqual([0, 1, 1])
})
