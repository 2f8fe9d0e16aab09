// The entry of a thread that encodes records written at run time: with tens of thousands of names
// it takes seconds.
import { sharedCopy } from '#lib/memory/copy-for-threads.ts'
import { parentPort } from 'node:worker_threads'
import { adoptBundle } from '#bundle/load/load.ts'
import type { HandedBundle } from '#answer/serving-view.ts'
import { assert } from '#lib/assert.ts'
import { yieldToAnswers } from '#lib/thread/background-thread.ts'
import { encodeWritten } from './written-bundle.ts'
import type { WrittenBundle } from './written-bundle.ts'
import { inOrder } from './written-records.ts'
import type { WrittenName } from './written-records.ts'
import type { FromEncoder, ToEncoder } from './encoder-messages.ts'

const main = parentPort
assert(main !== null, 'the encoder of written records runs in a thread')
yieldToAnswers()
/** By name on the wire. */
const names = new Map<string, WrittenName>()
let ordered: readonly WrittenName[] | undefined
let last: WrittenBundle | undefined
/** The octets of `last` in memory that needs no copy on its way. */
let shared: HandedBundle | null = null

main.on('message', (message: ToEncoder) => {
  if (message.kind === 'names') take(message.names)
  else main.postMessage(encoded(message))
})

function take(changed: readonly WrittenName[]): void {
  ordered = undefined
  for (const one of changed) {
    const name = Buffer.from(one.name).toString('latin1')
    if (one.rrsets.length > 0) names.set(name, one)
    else names.delete(name)
  }
}

function encoded({ bytes, digest }: Extract<ToEncoder, { kind: 'encode' }>): FromEncoder {
  ordered ??= inOrder([...names.values()])
  last = encodeWritten(ordered, adoptBundle(bytes, digest), last)
  const { handed, outside, leftOut, hidden } = last
  if (handed === null || handed.digest !== shared?.digest) shared = inSharedMemory(handed)
  return { handed: shared, outside, leftOut, hidden }
}

function inSharedMemory(handed: HandedBundle | null): HandedBundle | null {
  return handed && { bytes: sharedCopy(handed.bytes), digest: handed.digest }
}
