// Composes what rolls the keys of zones on a control node: zones and policies from the accepted
// configuration, TTLs from the bundle that is answered.
import { join } from 'node:path'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { RrsetCell } from '#bundle/format/rrsets.ts'
import { listedKeys, rollPolicy } from '#compiler/values/key-policy.ts'
import type { ConfigView } from '#config/view.ts'
import { missingAfterMs } from '#fleet/node-inventory.ts'
import type { KnownNode } from '#fleet/node-inventory.ts'
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { KeyNode } from '#server/signing/behind-nodes.ts'
import { KeyKeeper } from '#server/signing/key-keeper.ts'
import type { KeptZone } from '#server/signing/key-keeper.ts'
import type { KeyVault } from '#server/signing/key-vault.ts'
import { createStoredLooks, looksFile } from '#server/signing/stored-looks.ts'
import type { NodeDomains } from '#node/compose/domains.ts'
import { signedZonesOf } from '#config/signed-zones.ts'

interface NodeKeyKeeperParts {
  readonly dataDir: string
  readonly vault: Pick<KeyVault, 'keys' | 'change'>
  readonly config: Pick<ConfigView, 'isReady' | 'snapshot'>
  readonly bundle: () => Bundle | undefined
  readonly parentOf: NodeDomains['parentOf']
  /** See BehindNodes. */
  readonly behind: (beyondMs: number) => readonly string[]
  readonly clock: Clock
  readonly log: Log
}

export function createNodeKeyKeeper(parts: NodeKeyKeeperParts): KeyKeeper {
  const { dataDir, vault, config, parentOf, behind, clock, log } = parts
  const longest = new LongestTtl()
  const zones = (): readonly KeptZone[] => {
    const bundle = parts.bundle()
    if (bundle === undefined) return []
    const ttlMs = longest.of(bundle) * 1_000
    const ttls = { keyTtlMs: ttlMs, longestTtlMs: ttlMs }
    return signedZonesOf(config).map(({ name, dnssec }) => {
      const listed = listedKeys(dnssec)
      return { name, policy: rollPolicy(dnssec), ...(listed && { listed }), ...ttls }
    })
  }
  const looks = createStoredLooks(join(dataDir, looksFile), log)
  return new KeyKeeper({ vault, zones, parentOf, behind, looks, clock, log })
}

/** Nodes that are sent keys, live, and count. One of an older version does not say what it has. */
export function keyNodesOf(known: readonly KnownNode[]): readonly KeyNode[] {
  return known.flatMap(({ report, isCounted, isMissing }) => {
    const { role, name, keysRevision } = report
    const isOne = role === 'dns' && isCounted && !isMissing && keysRevision !== undefined
    return isOne ? [{ name, revision: keysRevision, lateMs: missingAfterMs(report) }] : []
  })
}

/** The longest TTL of a bundle, in seconds: of all zones, which is never too short for one. */
class LongestTtl {
  #digest = ''
  #seconds = 0

  of(bundle: Bundle): number {
    if (bundle.digest === this.#digest) return this.#seconds
    const { rrsetRow, nodeRow } = bundle
    let seconds = 0
    for (let at = RrsetCell.TtlSeconds; at < rrsetRow.length; at += RrsetCell.Words) {
      seconds = Math.max(seconds, rrsetRow[at]!)
    }
    for (let at = NodeCell.TtlSeconds; at < nodeRow.length; at += NodeCell.Words) {
      seconds = Math.max(seconds, nodeRow[at]!)
    }
    this.#digest = bundle.digest
    return (this.#seconds = seconds)
  }
}
