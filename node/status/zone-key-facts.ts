// Collects what is wrong with the keys of signed zones: on this node, on nodes that pull, and at
// the parents of the zones.
import type { ZoneKeyFacts } from '#alerts/facts.ts'
import type { KnownNode } from '#fleet/node-inventory.ts'
import type { BehindNode } from '#server/signing/behind-nodes.ts'
import { waitingLine } from '#server/signing/key-status.ts'
import type { KeptView } from '#server/signing/stored-looks.ts'
import {
  keyMissing,
  keysStale,
  keysUnused,
  missingKeysMessage,
  unusedKeysMessage,
} from './health-reasons.ts'

export interface ZoneKeyFactsParts {
  /** Name of this node. */
  readonly nodeName: string
  /** As `HealthParts` has them. */
  readonly missingKeys: () => readonly string[]
  readonly keyTroubles: () => readonly string[]
  readonly behindNodes: () => readonly BehindNode[]
  /** By zone: a sentence. */
  readonly dsFaults: () => ReadonlyMap<string, string>
  /** What zones wait for. */
  readonly rolled: () => readonly KeptView[]
  /** Nodes that pull. */
  readonly nodes: () => readonly Pick<KnownNode, 'report' | 'isCounted' | 'isMissing'>[]
  readonly nowMs: () => number
}

/** Parents that read CDS look once a day: RFC 7344 section 6.1 leaves it to them. */
const parentPatienceMs = 86_400_000

export function zoneKeyFacts(parts: ZoneKeyFactsParts): readonly ZoneKeyFacts[] {
  const { nodeName } = parts
  const [missing, unused] = [parts.missingKeys(), parts.keyTroubles()]
  return [
    ...(missing.length === 0 ? [] : [missingOn(nodeName, missingKeysMessage(missing))]),
    ...parts.nodes().flatMap(ofNode),
    ...(unused.length === 0
      ? []
      : [{ kind: 'unused' as const, of: nodeName, detail: unusedKeysMessage(unused) }]),
    ...parts.behindNodes().map(ofBehind),
    ...Array.from(parts.dsFaults(), ([of, fault]) => ({
      ...{ kind: 'ds-mismatch' as const, of },
      detail: `Clients that validate take answers for forgeries: ${fault}.`,
    })),
    ...parts.rolled().flatMap((view) => ofRoll(view, parts.nowMs())),
  ]
}

const missingOn = (of: string, detail: string): ZoneKeyFacts => ({ kind: 'missing', of, detail })

/** A node that pulls tells codes of its health alone. */
function ofNode({ report, isCounted, isMissing }: ReturnType<ZoneKeyFactsParts['nodes']>[number]) {
  const { name, role, reasons = [] } = report
  // A control node tells this of itself.
  if (role !== 'dns' || !isCounted || isMissing) return []
  const says = 'Its health and its log say why.'
  const facts: ZoneKeyFacts[] = []
  if (reasons.includes(keyMissing)) {
    facts.push(missingOn(name, `Clients that validate get SERVFAIL from it. ${says}`))
  }
  if (reasons.includes(keysUnused)) {
    facts.push({ kind: 'unused', of: name, detail: `Its keys stay as they are. ${says}` })
  }
  if (reasons.includes(keysStale)) {
    const detail = `It signs with what it has. Mend that before keys roll. ${says}`
    facts.push({ kind: 'stale', of: name, detail })
  }
  return facts
}

function ofBehind({ name, behindMs, isWaitedFor }: BehindNode): ZoneKeyFacts {
  const detail =
    `It has not taken newer keys for ${Math.floor(behindMs / 60_000)} minutes, and turns bogus ` +
    'once keys roll without it. Its health and its log say why.'
  return { kind: isWaitedFor ? 'behind' : 'left-behind', of: name, detail }
}

/** A first key may wait for ever: nobody has to make the zone secure. */
function ofRoll({ zone, waiting }: KeptView, nowMs: number): readonly ZoneKeyFacts[] {
  const isRoll = waiting.some((one) => one.for === 'key')
  const steps = waiting.filter(
    (one) =>
      one.for === 'old-ds' ||
      (one.for === 'parent' && isRoll && nowMs - one.sinceMs >= parentPatienceMs),
  )
  if (steps.length === 0) return []
  const detail = steps.map((one) => waitingLine(zone, one)).join(' ')
  return [{ kind: 'waits', of: zone, detail }]
}
