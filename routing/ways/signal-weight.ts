// signal-weight: orders candidates by their score blended with the signal of their region.
import { textOf } from '#bundle/format/bundle.ts'
import type { RoutingEnvironment } from '#routing/choose/environment.ts'
import type { Way } from '#routing/choose/way.ts'

export const signalWeight: Way = {
  name: 'signal-weight',
  aliases: [],
  usedAs: ['filter'],
  kind: 'narrowing',
  leaves: 'all',
  picksAny: false,
  feature: 'signal-weight',
  needs: ['signals'],
  reads: 'signals',
  likeness: [],
  page: {
    does:
      'orders by `score × (1 − weight) + bias × weight`; ' +
      'the bias is 1 for the lowest signal of the regions present, 0 for the highest',
    settings: '`signals.static`, `signals.weight` (0.5)',
    scope: '0',
  },
  bind(environment) {
    const { weight } = environment.settings.signals
    const signals = createSignals(environment)
    if (signals === undefined) return () => undefined
    const signalOfText = signals
    return (chain) => {
      const { bundle, state, members, keys, count } = chain
      let least = Infinity
      let most = -Infinity
      for (let i = 0; i < count; i++) {
        const signal = signalOfText[bundle.memberRegion[members[i]!]!]!
        if (signal < least) least = signal
        if (signal > most) most = signal
      }
      for (let i = 0; i < count; i++) {
        const member = members[i]!
        const score = state.memberScore[member]!
        const signal = signalOfText[bundle.memberRegion[member]!]!
        // The lowest signal present has the bias 1; a region without one keeps its score.
        const bias = most > least ? (most - signal) / (most - least) : 1
        keys[i] = signal === signal ? score * (1 - weight) + bias * weight : score
      }
      chain.sortByKeys()
    }
  },
}

/** Signals by text number, NaN where there is none; undefined when no region has one. */
function createSignals({ bundle, settings }: RoutingEnvironment): Float64Array | undefined {
  const wanted = new Map(Object.entries(settings.signals.static))
  if (wanted.size === 0) return undefined
  const signals = new Float64Array(bundle.stringOffset.length - 1).fill(Number.NaN)
  const seen = new Set(bundle.memberRegion)
  for (const text of seen) signals[text] = wanted.get(textOf(bundle, text)) ?? Number.NaN
  return signals
}
