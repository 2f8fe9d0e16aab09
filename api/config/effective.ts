// Computes the effective weight and enabled state of members: the configuration with rollouts,
// windows and regressions applied at this instant.
import type { ConfigSnapshot } from '#config/object-index.ts'
import { OverlayIndex } from '#config/overlays/effective.ts'
import type { EffectiveView } from '#config/overlays/effective.ts'
import type { OverlayView } from '#ports/overlay-view.ts'
import type { Ports } from '#ports/ports.ts'

export function effectiveNow({
  config,
  overlays,
  clock,
}: Ports<'config' | 'overlays' | 'clock'>): EffectiveView {
  return effectiveIn(config.snapshot(), overlays, clock.nowMs())
}

export function effectiveIn(
  snapshot: ConfigSnapshot,
  overlays: OverlayView,
  nowMs: number,
): EffectiveView {
  return OverlayIndex.of(snapshot).at(nowMs, overlays.trip)
}
