// Says what a commit does to answers, for the thread that has made it.
import type { Bundle } from '#bundle/format/bundle.ts'
import { adoptBundle } from '#bundle/load/load.ts'
import type { CommitBundle, CommitEffects } from '#gitops/write/commit-effect.ts'
import { systemClock } from '#lib/clock.ts'
import { shortWords } from '#plan/print/short.ts'
import { QuickEffects } from '#plan/quick-effect.ts'
import type { QuickReason } from '#plan/quick-effect.ts'

/** What a write that was made says where its effect is not known, and why. */
export const unknownEffect = (reason: QuickReason | 'first'): string =>
  `moved=unknown; reason=${reason}`

/** @param hasDatabases whether the node has any that tell where clients are */
export function createCommitEffects(hasDatabases: boolean, clock = systemClock): CommitEffects {
  const effects = new QuickEffects({ nowMs: () => clock.nowMs(), hasDatabases })
  /** The head of the last commit is mostly what the next one stands on. */
  let last: Bundle | undefined
  const loaded = ({ bytes, digest }: CommitBundle): Bundle =>
    last?.digest === digest ? last : adoptBundle(bytes, digest)
  return (before, after) => {
    const base = before === null ? undefined : loaded(before)
    last = loaded(after)
    if (base === undefined) return () => unknownEffect('first')
    const effect = effects.between(base, last)
    return (viewer) => (effect.ok ? shortWords(effect.of(viewer)) : unknownEffect(effect.reason))
  }
}
