// `gslbd publish` of a compiled bundle, and the roles that `gslbd serve` takes.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { trustedKeyFromPem, verifyChannelRecord } from '#bundle/signature/channel.ts'
import type { ChannelRecord } from '#bundle/signature/channel.ts'
import { readerOf } from '#test/support/octet-reader.ts'
import { applyDelta } from '#fleet/delta.ts'
import { newSigningKey } from '#test/support/bundle-models.ts'
import { signedBundle } from '#test/support/bundle-source.ts'
import { runCli } from '#test/support/run-cli.ts'
import { tempDir } from '#test/support/temp-dir.ts'

const key = newSigningKey()
const trusted = trustedKeyFromPem(key.publicKey.export({ type: 'spki', format: 'pem' }).toString())

function scene() {
  const directory = tempDir('publish')
  const tree = join(directory, 'tree')
  const keyFile = join(directory, 'key.pem')
  writeFileSync(keyFile, key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const publish = (number: number, ...more: string[]) => {
    const file = join(directory, `${number}.bundle`)
    writeFileSync(file, signedBundle(key, number).bytes)
    return runCli('publish', tree, '--bundle', file, '--key', keyFile, ...more)
  }
  const record = (): ChannelRecord => {
    const text = readFileSync(join(tree, 'bundles/channels/main'), 'utf8')
    const verified = verifyChannelRecord(JSON.parse(text), [trusted])
    if (!verified.ok) throw new Error(verified.error)
    return verified.value
  }
  const bundles = () => readdirSync(join(tree, 'bundles')).filter((name) => name.length === 64)
  return { directory, tree, publish, record, bundles }
}

test('counts up, names the bundle before, and keeps these two alone', async () => {
  const { publish, record, bundles } = scene()
  for (const number of [1, 2, 3]) expect(await publish(number)).toMatchObject({ exit: 0 })
  const [second, third] = [signedBundle(key, 2).digest, signedBundle(key, 3).digest]
  expect(record()).toMatchObject({ seq: 3, digest: third, previous: second })
  expect(bundles().sort()).toEqual([second, third].sort())
})

test('has a delta beside the bundle, from the one before', async () => {
  const { publish, tree } = scene()
  for (const number of [1, 2, 3]) await publish(number)
  const [second, third] = [signedBundle(key, 2), signedBundle(key, 3)]
  const deltas = join(tree, 'bundles/deltas')
  expect(readdirSync(deltas, { recursive: true }).toSorted()).toEqual([
    third.digest,
    `${third.digest}/${second.digest}`,
  ])
  const delta = readFileSync(join(deltas, third.digest, second.digest))
  const made = await applyDelta(delta, readerOf(second.bytes), 1_000_000)
  expect(made.ok && Buffer.compare(made.value, third.bytes)).toBe(0)
})

test('leaves the bundles of other channels in the directory', async () => {
  const { publish, bundles } = scene()
  for (const number of [1, 2]) await publish(number, '--channel', 'one')
  for (const number of [3, 4, 5]) await publish(number, '--channel', 'two')
  const kept = [1, 2, 4, 5].map((number) => signedBundle(key, number).digest)
  expect(bundles().sort()).toEqual(kept.sort())
})

test('renews the record of a bundle that is there already', async () => {
  const { publish, record } = scene()
  await publish(1, '--valid', '1h')
  const before = record()
  await publish(1, '--valid', '2h')
  expect(record()).toMatchObject({ seq: 1, digest: before.digest })
  expect(record().expiresAtMs).toBeGreaterThan(before.expiresAtMs)
})

test.each([
  [['publish'], 2, 'give one directory'],
  [['publish', 'x', '--bundle', 'y'], 2, '--bundle needs --key'],
  [['publish', 'x', '--valid', '1h'], 2, '--valid belongs to --bundle'],
  [['publish', 'x', '--data-dir', '/nowhere'], 2, '/nowhere is no data directory of a node'],
  [['serve', '--role', 'dnss'], 2, '--role is "dnss", write control, dns or agent'],
  [['serve', '--role', 'dns'], 1, 'bundle.urls is empty'],
])('%j says what to do', async (args, exit, sentence) => {
  const run = await runCli(...args)
  expect([run.exit, run.err]).toEqual([exit, expect.stringContaining(sentence)])
})

test('a bundle by another key is not published', async () => {
  const { directory, tree, publish } = scene()
  const other = join(directory, 'other.pem')
  writeFileSync(other, newSigningKey().privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await publish(1)
  const file = join(directory, '1.bundle')
  const run = await runCli('publish', tree, '--bundle', file, '--key', other)
  expect([run.exit, run.err]).toEqual([2, expect.stringContaining('unknown-key')])
})
