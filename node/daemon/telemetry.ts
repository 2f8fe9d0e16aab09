// Part: measures writes, and tells a collector of them.
import { NodeTelemetry } from '#node/telemetry/node-telemetry.ts'
import type { NodeState } from '#integrations/telemetry/commit-traces.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { systemAfter } from '#lib/timer.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'

export const keepTelemetry = (have: Given): Outcome<Has<'telemetry'>> => {
  const { settings, log, later } = have
  const telemetry = new NodeTelemetry({
    ...{ settings: settings.telemetry.otlp, node: settings.state.nodeName, log },
    // The list of nodes belongs to a later part.
    nodes: () => (later.inventory === undefined ? [] : followersIn(later.inventory)),
    ...{ clock: systemClock, after: systemAfter },
  })
  return ok({ gives: { telemetry }, stop: () => telemetry.close() })
}

/** Nodes that count and can be expected to follow. */
export function followersIn(inventory: Has<'inventory'>['inventory']): readonly NodeState[] {
  return inventory.all().flatMap(({ report, isCounted, isMissing }) => {
    const isFollower = report.role !== 'agent' && isCounted && !isMissing && !report.isLeaving
    return isFollower ? [report] : []
  })
}
