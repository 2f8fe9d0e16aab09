// Writes bundles into a directory for a web server: the bundle first, then its record.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '#lib/assert.ts'
import { checkOrder } from '#bundle/signature/channel.ts'
import type { ChannelRecord, SignedChannelRecord } from '#bundle/signature/channel.ts'
import { writeDurably } from '#lib/durable-file.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { withBundleFile } from './byte-ranges.ts'
import { makeDelta } from './delta.ts'
import { bundlePath, channelPath, deltaPath } from './tree.ts'

interface PublishedTree {
  readonly record: ChannelRecord
  /** How many bundles were removed that no record names. */
  readonly removed: number
}

/** The record of a channel in a directory, not verified. undefined: there is none. */
export function publishedRecord(directory: string, channel: string): unknown {
  try {
    return JSON.parse(readFileSync(join(directory, channelPath(channel)), 'utf8'))
  } catch (error) {
    // A file that cannot be read is no record: the next one replaces it.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : null
  }
}

/**
 * At any moment the record names a bundle that exists. The bundle of the record before stays for
 * nodes that are reading it. Errors: a sentence.
 *
 * @param before the verified record in the directory; undefined: there is none
 * @throws the file system's error
 */
export async function publishTree(
  directory: string,
  { record, ...signature }: SignedChannelRecord,
  bytes: Uint8Array,
  before: ChannelRecord | undefined,
): Promise<Result<PublishedTree, string>> {
  const order = checkOrder(record, before)
  if (!order.ok) {
    return err(
      `the directory has seq ${before?.seq ?? 0} of the channel "${before?.channel ?? ''}", and ` +
        `this is seq ${record.seq}: nodes would refuse it (${order.error})`,
    )
  }
  mkdirSync(join(directory, 'bundles', 'channels'), { recursive: true })
  writeDurably(join(directory, bundlePath(record.digest)), bytes)
  await writeDelta(directory, record.digest, before?.digest)
  const text = JSON.stringify({ record, ...signature })
  writeDurably(join(directory, channelPath(record.channel)), text)
  const others = otherRecords(directory, record.channel)
  const current = new Set([record.digest, ...others.map(({ digest }) => digest)])
  const previous = others.map((other) => other.previous)
  const kept = new Set([...current, record.previous, before?.digest, ...previous])
  assert(kept.has(record.digest), 'the bundle that the record names is kept')
  const old = readdirSync(join(directory, 'bundles')).filter(
    (name) => /^[0-9a-f]{64}$/.test(name) && !kept.has(name),
  )
  for (const name of old) rmSync(join(directory, bundlePath(name)), { force: true })
  for (const name of namesIn(join(directory, 'bundles', 'deltas'))) {
    if (!current.has(name)) rmSync(join(directory, 'bundles', 'deltas', name), removal)
  }
  return ok({ record, removed: old.length })
}

/**
 * Records of other channels in the directory. Unverified ones count as well: their bundles stay.
 */
function otherRecords(directory: string, channel: string): readonly Partial<ChannelRecord>[] {
  return namesIn(join(directory, 'bundles', 'channels'))
    .filter((name) => name !== channel)
    .map((name) => publishedRecord(directory, name) as Partial<SignedChannelRecord> | null)
    .flatMap((signed) => (signed?.record === undefined ? [] : [signed.record]))
}

/** Writes the delta from the bundle before. Without it, nodes fetch the whole bundle. */
async function writeDelta(directory: string, to: string, from: string | undefined): Promise<void> {
  if (from === undefined || from === to) return
  const [old, next] = [from, to].map((digest) => join(directory, bundlePath(digest)))
  if (old === undefined || next === undefined || !existsSync(old)) return
  const delta = await withBundleFile(
    old,
    (before) => withBundleFile(next, (bundle) => makeDelta(before, bundle)),
    // A foreign file is no bundle.
  ).catch(() => undefined)
  if (delta !== undefined) writeDurably(join(directory, deltaPath(from, to)), delta)
}

const removal = { recursive: true, force: true } as const

function namesIn(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory) : []
}
