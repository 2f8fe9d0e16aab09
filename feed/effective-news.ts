// Finds members that rollouts, windows or regressions have changed since the last message.
import { effectiveIn } from '#api/config/effective.ts'
import type { OverlayView } from '#ports/overlay-view.ts'
import type { ConfigSnapshot } from '#config/object-index.ts'
import { OverlayIndex } from '#config/overlays/effective.ts'
import type { EffectiveMember, EffectiveView } from '#config/overlays/effective.ts'
import type { MemberPart } from '#api/resources/member.ts'

/** Longest pause: a jump of the clock is noticed by then. */
const lookMs = 5_000

interface ChangedMember {
  readonly poolId: string
  readonly tenant: string
  readonly member: MemberPart
}

export class EffectiveNews {
  readonly #overlays: OverlayView
  /** Members that differ from their declaration, as last reported. */
  #reported: ReadonlyMap<string, EffectiveMember> = new Map()

  constructor(overlays: OverlayView) {
    this.#overlays = overlays
  }

  /** The view that was reported last. */
  readonly reported: EffectiveView = {
    of: (_poolId, member) => this.#reported.get(member.uid) ?? asDeclared(member),
  }

  now(config: ConfigSnapshot, nowMs: number): EffectiveView {
    return effectiveIn(config, this.#overlays, nowMs)
  }

  /** @returns members whose effective state changed; they count as reported from now on */
  look(config: ConfigSnapshot, nowMs: number): ChangedMember[] {
    const view = this.now(config, nowMs)
    const next = new Map<string, EffectiveMember>()
    const changed: ChangedMember[] = []
    const visit = (poolId: string, tenant: string, member: MemberPart): void => {
      const effective = view.of(poolId, member)
      if (effective.heldBy !== null) next.set(member.uid, effective)
      const was = this.reported.of(poolId, member)
      if (!isSame(was, effective)) changed.push({ poolId, tenant, member })
    }
    const seen = new Set<string>()
    for (const { pool, member } of OverlayIndex.of(config).membersAt(nowMs)) {
      if (seen.has(member.uid)) continue
      seen.add(member.uid)
      visit(pool.uid, pool.tenant, member)
    }
    for (const uid of this.#reported.keys()) {
      const found = seen.has(uid) ? undefined : config.part('Member', uid)
      if (found !== undefined) visit(found.owner.uid, found.owner.tenant, found.part)
    }
    this.#reported = next
    return changed
  }

  /** Time until the next change by time, or until the next look; null: there is none. */
  restMs(config: ConfigSnapshot, nowMs: number): number | null {
    const index = OverlayIndex.of(config)
    if (index.rollouts.length + index.windows.length === 0) return null
    const next = index.nextEventAtMs(nowMs, this.#overlays.trip)
    return Math.min(lookMs, Math.max(0, next - nowMs))
  }
}

function asDeclared({ weight, enabled }: MemberPart): EffectiveMember {
  return { weight, enabled, heldBy: null }
}

function isSame(a: EffectiveMember, b: EffectiveMember): boolean {
  return a.weight === b.weight && a.enabled === b.enabled && a.heldBy?.id === b.heldBy?.id
}
