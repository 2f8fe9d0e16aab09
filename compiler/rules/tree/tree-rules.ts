// The table of tree rules. Adding one means one file, one line here, one fixture.
import type { TreeRule } from './tree-rule.ts'
import { bundleLimitsKept } from './bundle-limits.ts'
import { defaultsPresent } from './defaults-present.ts'
import { deliveriesUnique } from './deliveries-unique.ts'
import { delegatedDomainsUnique } from './delegated-domains-unique.ts'
import { domainsUnique } from './domains-unique.ts'
import { healthChecksAllowed } from './health-check-allowed.ts'
import { fallbackPools } from './fallback-pools.ts'
import { hostnameMembers } from './hostname-members.ts'
import { memberCapacity } from './member-capacity.ts'
import { nameHolders } from './name-holders.ts'
import { namesUnique } from './names-unique.ts'
import { overlayEffects } from './overlay-effects.ts'
import { overlayTargets } from './overlay-targets.ts'
import { nameserverGlue } from './nameserver-glue.ts'
import { poolReferences } from './pool-references.ts'
import { poolsUsed } from './pools-used.ts'
import { aliasChains } from './alias-chains.ts'
import { aliasTargets } from './alias-targets.ts'
import { bindingTargets } from './binding-targets.ts'
import { recordTargets } from './record-targets.ts'
import { recordZones } from './record-zones.ts'
import { recordsAndServices } from './records-and-services.ts'
import { recordsUnique } from './records-unique.ts'
import { redirectLoops } from './redirect-loops.ts'
import { redirectsUnique } from './redirects-unique.ts'
import { responseRuleEffects } from './response-rule-effects.ts'
import { responseRuleLoops } from './response-rule-loops.ts'
import { responseRulesUnique } from './response-rules-unique.ts'
import { routingEndpoints } from './routing-endpoints.ts'
import { serviceRouting } from './service-routing.ts'
import { serviceSizes } from './service-sizes.ts'
import { servicesOutsideZones } from './services-outside-zones.ts'
import { soaFailover } from './soa-failover.ts'
import { tenantFolders } from './tenant-folders.ts'
import { uidsUnique } from './uids-unique.ts'
import { thinWindows } from './thin-windows.ts'
import { weakSpots } from './weak-spots.ts'
import { weights } from './weights.ts'
import { zoneCuts } from './zone-cuts.ts'
import { zoneTenants } from './zone-tenants.ts'

/** Run on every compilation. */
export const treeRules: readonly TreeRule[] = Object.freeze([
  tenantFolders,
  namesUnique,
  uidsUnique,
  domainsUnique,
  poolReferences,
  poolsUsed,
  fallbackPools,
  weakSpots,
  memberCapacity,
  hostnameMembers,
  serviceRouting,
  serviceSizes,
  routingEndpoints,
  healthChecksAllowed,
  nameserverGlue,
  overlayTargets,
  overlayEffects,
  thinWindows,
  weights,
  defaultsPresent,
  servicesOutsideZones,
  soaFailover,
  responseRulesUnique,
  responseRuleLoops,
  responseRuleEffects,
  redirectsUnique,
  redirectLoops,
  delegatedDomainsUnique,
  deliveriesUnique,
  zoneTenants,
  nameHolders,
  recordZones,
  recordsUnique,
  recordsAndServices,
  zoneCuts,
  recordTargets,
  aliasChains,
  aliasTargets,
  bindingTargets,
  bundleLimitsKept,
])
