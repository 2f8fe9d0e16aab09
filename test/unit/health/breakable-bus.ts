// A bus between nodes that goes away and comes back as a test says.
import { createMemoryPeerHealth } from '#state/memory/peer-health.ts'
import type { PeerHealth } from '#state/ports/peer-health.ts'

/** A bus that can be away for one node, which is told when it is back. */
export function breakableBus() {
  const bus = createMemoryPeerHealth()
  const gaps: (() => void)[] = []
  let isAway = false
  const subscribe: PeerHealth['subscribe'] = (handler, onGap = () => undefined) => {
    gaps.push(onGap)
    return bus.subscribe((update) => {
      if (!isAway) handler(update)
    })
  }
  let loads = 0
  const load = () => {
    loads++
    return isAway ? Promise.reject(new Error('no connection')) : bus.load()
  }
  const tellOfGap = (): void => {
    for (const onGap of gaps) onGap()
  }
  return {
    bus,
    broken: { ...bus, subscribe, load },
    away: () => {
      isAway = true
    },
    tellOfGap,
    backUntold: () => {
      isAway = false
    },
    back: () => {
      isAway = false
      tellOfGap()
    },
    loads: () => loads,
  }
}
