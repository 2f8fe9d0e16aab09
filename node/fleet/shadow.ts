// Composes the shadow of a pulling node: it computes with another bundle beside the one it answers
// from.
import type { Stop } from '#node/parts/part.ts'
import type { PulledShadow } from '#fleet/puller.ts'
import type { ShadowReport } from '#node/status/node-report.ts'
import type { QuerySamples } from '#answer/samples/query-samples.ts'
import { Shadow, shadowLimits } from '#server/shadow/shadow.ts'
import type { ShadowParts } from '#server/shadow/shadow.ts'
import { systemClock } from '#lib/clock.ts'

interface NodeShadowing {
  readonly pulled: PulledShadow
  readonly report: ShadowReport
  readonly stop: Stop
}

export function createShadow(
  samples: QuerySamples,
  parts: Pick<ShadowParts, 'live' | 'trusted'>,
): NodeShadowing {
  const shadow = new Shadow({ ...parts, samples, clock: systemClock })
  let timer: NodeJS.Timeout | undefined
  const end = (): void => {
    clearInterval(timer)
    shadow.end()
  }
  const pulled: PulledShadow = {
    digest: () => shadow.digest,
    begin: (bundle) => {
      const begun = shadow.begin(bundle)
      clearInterval(timer)
      if (begun.ok) timer = setInterval(() => shadow.tick(), shadowLimits.tickMs)
      return begun
    },
    end,
  }
  return {
    pulled,
    report: { counts: () => shadow.counts(), totals: () => shadow.totals() },
    stop: end,
  }
}
