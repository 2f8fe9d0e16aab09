// Part: what this node gives to nodes that pull its bundles.
import { BundleFeed } from '#fleet/bundle-feed.ts'
import { BundleFiles } from '#fleet/bundle-files.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import type { Part } from './part.ts'

/** What is on the disk is given: what a full disk did not take could not be sent either. */
export const giveBundles: Part = ({ store }) => {
  const bundleFeed = new BundleFeed({
    stored: () => (store.record('active') as SignedChannelRecord | null) ?? undefined,
    after: systemAfter,
  })
  const bundleFiles = new BundleFiles((digest) => store.bundlePath(digest))
  return ok({ gives: { bundleFeed, bundleFiles }, stop: () => bundleFeed.close() })
}
