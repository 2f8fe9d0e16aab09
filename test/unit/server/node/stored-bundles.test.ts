import { expect, test } from 'vitest'
import { BundleStore } from '#server/node/bundle-store.ts'
import { bootBundle } from '#server/node/stored-bundles.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { generation, publish } from '#test/support/node-under-test.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const key = newSigningKey()
const [first, second] = [1, 2].map((seq) => publish(key, generation(seq), { seq }))

test('a start that fails on the active bundle serves the one before it, and says so', () => {
  const store = new BundleStore(tempDir('store'))
  store.keep(first!.signedRecord, first!.bundle, undefined)
  store.keep(second!.signedRecord, second!.bundle, first!.signedRecord)
  const served: number[] = []
  const lines: string[] = []
  const note = (_fields: object, message: string): void => void lines.push(message)
  const log = { info: note, warn: note, error: note }
  const parts = { store, trusted: [key], log, onRecord: () => undefined, isAnswering: true }
  bootBundle(parts, ({ record }) => {
    if (record.seq === 2) throw new Error('assertion failed: something that must hold')
    served.push(record.seq)
  })
  expect(served).toEqual([1])
  expect(lines).toEqual([
    'gslbd failed on the stored active bundle, which is a mistake of gslbd: please report it',
    'serving the previous bundle from disk',
  ])
})

test.each([
  ['that answers', true, ['no bundle on disk; every query is refused until one arrives']],
  ['that answers nobody', false, []],
])('a node %s says of an empty store what follows', (_which, isAnswering, said) => {
  const lines: string[] = []
  const note = (_fields: object, message: string): void => void lines.push(message)
  const log = { info: note, warn: note, error: note }
  const store = new BundleStore(tempDir('store'))
  const parts = { store, trusted: [key], log, onRecord: () => undefined, isAnswering }
  bootBundle(parts, () => expect.unreachable('there is nothing to serve'))
  expect(lines).toEqual(said)
})
