// Every rule between files. Adding one means one file, one line here, one fixture.
import type { TreeRule } from './tree-rule.ts'
import { bundleLimitsKept } from './rules/bundle-limits.ts'
import { defaultsPresent } from './rules/defaults-present.ts'
import { delegatedDomainsUnique } from './rules/delegated-domains-unique.ts'
import { domainsUnique } from './rules/domains-unique.ts'
import { healthChecksAllowed } from './rules/health-check-allowed.ts'
import { fallbackPools } from './rules/fallback-pools.ts'
import { namesUnique } from './rules/names-unique.ts'
import { overlayEffects } from './rules/overlay-effects.ts'
import { overlayTargets } from './rules/overlay-targets.ts'
import { nameserverGlue } from './rules/nameserver-glue.ts'
import { poolReferences } from './rules/pool-references.ts'
import { poolsUsed } from './rules/pools-used.ts'
import { redirectsUnique } from './rules/redirects-unique.ts'
import { responseRuleEffects } from './rules/response-rule-effects.ts'
import { responseRuleLoops } from './rules/response-rule-loops.ts'
import { responseRulesUnique } from './rules/response-rules-unique.ts'
import { routingEndpoints } from './rules/routing-endpoints.ts'
import { serviceRouting } from './rules/service-routing.ts'
import { soaFailover } from './rules/soa-failover.ts'
import { tenantFolders } from './rules/tenant-folders.ts'
import { uidsUnique } from './rules/uids-unique.ts'
import { unservedKindsRefused } from './rules/unserved-kinds.ts'

/** Run on every compilation. */
export const treeRules: readonly TreeRule[] = Object.freeze([
  tenantFolders,
  namesUnique,
  uidsUnique,
  domainsUnique,
  poolReferences,
  poolsUsed,
  fallbackPools,
  serviceRouting,
  routingEndpoints,
  healthChecksAllowed,
  nameserverGlue,
  overlayTargets,
  overlayEffects,
  defaultsPresent,
  soaFailover,
  responseRulesUnique,
  responseRuleLoops,
  responseRuleEffects,
  redirectsUnique,
  delegatedDomainsUnique,
  unservedKindsRefused,
  bundleLimitsKept,
])
