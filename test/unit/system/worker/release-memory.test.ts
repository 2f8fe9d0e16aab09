// What a process gives back to the system is out of its resident memory, and reads as before.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { releaseFilePages, releaseZeroPages } from '#system/worker/release-memory.ts'

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
