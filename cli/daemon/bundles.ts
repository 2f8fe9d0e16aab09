// Part: what this node gives to nodes that pull its bundles.
import { join } from 'node:path'
import { BundleDeltas } from '#fleet/bundle-deltas.ts'
import { PackedBundles } from '#fleet/packed-bundles.ts'
import { BundleFeed } from '#fleet/bundle-feed.ts'
import { BundleFiles } from '#fleet/bundle-files.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import type { Part } from './part.ts'

/** What is on the disk is given: what a full disk did not take could not be sent either. */
export const giveBundles: Part = ({ store, dataDir, delivery: { keeper, files } }) => {
  const bundleFeed = new BundleFeed({
    stored: () => (store.record('active') as SignedChannelRecord | null) ?? undefined,
    inWaves: (node) => keeper.recordFor(node),
    waitMsFor: (node) => keeper.waitMsFor(node),
    after: systemAfter,
  })
  const pathOf = (digest: string): string => files.bundlePath(digest)
  const bundleFiles = new BundleFiles(pathOf)
  const bundleDeltas = new BundleDeltas(pathOf)
  const packedBundles = new PackedBundles(join(dataDir.path, 'node', 'packed'), pathOf)
  return ok({
    gives: { bundleFeed, bundleFiles, bundleDeltas, packedBundles },
    stop: () => bundleFeed.close(),
  })
}
