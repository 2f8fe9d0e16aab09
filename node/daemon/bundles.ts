// Part: serves bundles to nodes that pull: the configuration, and on its own channel the TXT
// records written at run time.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BundleDeltas } from '#fleet/bundle-deltas.ts'
import { PackedBundles } from '#fleet/packed-bundles.ts'
import { BundleFeed } from '#fleet/bundle-feed.ts'
import { BundleFiles } from '#fleet/bundle-files.ts'
import type { SignedChannelRecord } from '#bundle/signature/channel.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import { BundleStore } from '#server/node/bundle-store.ts'
import { textsChannel, textsDirectory } from '#server/texts/texts-bundle.ts'
import { TextsPublisher } from '#server/texts/texts-publisher.ts'
import { channel, recordTtlMs } from './git.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { BundleOutput, Has } from '#node/parts/part-outputs.ts'

type Needs = Given & Has<'dataDir' | 'key' | 'dynamicDns'>

/** Serves files of the disk: a bundle that a full disk refused cannot be sent. */
export const giveBundles = (
  have: Needs & Has<'store' | 'delivery'>,
): Outcome<Has<BundleOutput>> => {
  const { store, dataDir, delivery } = have
  const { keeper, files } = delivery
  const bundleFeed = new BundleFeed({
    stored: () => recordIn(store),
    inWaves: (node) => keeper.recordFor(node),
    waitMsFor: (node) => keeper.waitMsFor(node),
    after: systemAfter,
  })
  const texts = new BundleStore(dataDir.path, textsDirectory)
  const textsFeed = new BundleFeed({ stored: () => recordIn(texts), after: systemAfter })
  const publisher = createPublisher(have, texts, () => textsFeed.changed())
  const pathOf = (digest: string): string => {
    const path = texts.bundlePath(digest)
    return existsSync(path) ? path : files.bundlePath(digest)
  }
  const bundleFiles = new BundleFiles(pathOf)
  const bundleDeltas = new BundleDeltas(pathOf)
  const packedBundles = new PackedBundles(join(dataDir.path, 'node', 'packed'), pathOf)
  publisher?.start()
  const textsDigest = (): string | null => recordIn(texts)?.record.digest ?? null
  return ok({
    gives: { bundleFeed, textsFeed, textsDigest, bundleFiles, bundleDeltas, packedBundles },
    stop: async () => {
      bundleFeed.close()
      textsFeed.close()
      await publisher?.stop()
    },
  })
}

const recordIn = (store: BundleStore): SignedChannelRecord | undefined =>
  (store.record('active') as SignedChannelRecord | null) ?? undefined

/** @returns undefined: without an API nobody can ask for bundles */
function createPublisher(
  { settings, dynamicDns, key, log }: Needs,
  store: BundleStore,
  onStored: () => void,
): TextsPublisher | undefined {
  if (!settings.api.enabled) return undefined
  return new TextsPublisher({
    feed: dynamicDns,
    ...{ store, key: key.signing, channel: textsChannel(channel), recordTtlMs },
    ...{ clock: systemClock, after: systemAfter, log, onStored },
  })
}
