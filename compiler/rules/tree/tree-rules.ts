// The table of tree rules. A new one needs a function in the file of its theme, one line here, and
// one fixture.
import type { TreeRule } from './tree-rule.ts'
import { bundleLimitsKept } from './bundle-limits.ts'
import { healthChecksAllowed } from './health-check-allowed.ts'
import { leftTransfers, yieldingRecords } from './inbound-zones.ts'
import { nameHolders } from './name-holders.ts'
import { overlayEffects, thinWindows } from './overlay-effects.ts'
import { overlayTargets } from './overlay-targets.ts'
import { fallbackPools, hostnameMembers, poolReferences, poolsUsed } from './pools.ts'
import { aliasChains, aliasTargets, bindingTargets, recordTargets } from './record-targets.ts'
import { recordsAndServices, recordsUnique, recordZones, zoneCuts } from './records.ts'
import { redirectLoops } from './redirect-loops.ts'
import { memberCapacity, weakSpots } from './redundancy.ts'
import { responseRuleEffects, responseRuleLoops, responseRulesUnique } from './response-rules.ts'
import { routingEndpoints } from './routing-endpoints.ts'
import { serviceRouting, serviceSizes } from './services.ts'
import { delegatedDomains, domainsWithoutNames, tenantFolders, zoneTenants } from './tenants.ts'
import { uniqueRules } from './unique.ts'
import { weights } from './weights.ts'
import { defaultsPresent, nameserverGlue, servicesOutsideZones, soaFailover } from './zones.ts'

/** Run at every compilation, in this order: of too many findings the first are shown. */
export const treeRules: readonly TreeRule[] = Object.freeze([
  ...uniqueRules,
  ...[tenantFolders, zoneTenants, delegatedDomains, domainsWithoutNames, nameHolders],
  ...[poolReferences, poolsUsed, fallbackPools, hostnameMembers, healthChecksAllowed],
  ...[weakSpots, memberCapacity, overlayTargets, overlayEffects, thinWindows],
  ...[serviceRouting, serviceSizes, routingEndpoints, weights],
  ...[nameserverGlue, defaultsPresent, servicesOutsideZones, soaFailover],
  ...[responseRulesUnique, responseRuleLoops, responseRuleEffects, redirectLoops],
  ...[recordZones, recordsUnique, recordsAndServices, zoneCuts],
  ...[yieldingRecords, leftTransfers],
  ...[recordTargets, aliasChains, aliasTargets, bindingTargets],
  bundleLimitsKept,
])
