// Lists the conditions. Adding one means a row here, a file and its cases.
import type { Condition } from './condition.ts'
import { certificate } from './conditions/certificate.ts'
import { certificateRenewal } from './conditions/certificate-renewal.ts'
import { deliveryStopped } from './conditions/delivery-stopped.ts'
import { discoverySource } from './conditions/discovery-source.ts'
import { disk } from './conditions/disk.ts'
import { drift } from './conditions/drift.ts'
import { fleetDegraded } from './conditions/fleet-degraded.ts'
import { fleetDrift } from './conditions/fleet-drift.ts'
import { geoDatabaseStale } from './conditions/geo-database-stale.ts'
import { heldCommit } from './conditions/held-commit.ts'
import { licence } from './conditions/licence.ts'
import { memberDown } from './conditions/member-down.ts'
import { memberFlapping } from './conditions/member-flapping.ts'
import { nodeDegraded } from './conditions/node-degraded.ts'
import { nodeMissing } from './conditions/node-missing.ts'
import { poolWithoutMembers } from './conditions/pool-without-members.ts'
import { rolloutRegression } from './conditions/rollout-regression.ts'
import { zoneKeys } from './conditions/zone-keys.ts'
import { zoneTransfer } from './conditions/zone-transfer.ts'
import { zonePush } from './conditions/zone-push.ts'

export const conditions: readonly Condition[] = Object.freeze([
  rolloutRegression,
  poolWithoutMembers,
  memberDown,
  memberFlapping,
  heldCommit,
  geoDatabaseStale,
  licence,
  certificate,
  certificateRenewal,
  nodeMissing,
  nodeDegraded,
  drift,
  fleetDrift,
  fleetDegraded,
  deliveryStopped,
  discoverySource,
  zoneTransfer,
  zonePush,
  zoneKeys,
  disk,
])

export const conditionNames: readonly string[] = conditions.map(({ name }) => name)

export function conditionOf(name: string): Condition | undefined {
  return conditions.find((row) => row.name === name)
}
