// Every rule about one object. Adding one means one file, one line here, one fixture.
import type { Kind } from '#schemas/kinds.ts'
import type { ObjectRule } from './object-rule.ts'
import { delegatedDomain } from './rules/delegated-domain.ts'
import { healthCheckScript } from './rules/health-check-script.ts'
import { geoRules } from './rules/geo-rules.ts'
import { healthCheckSense } from './rules/health-check-sense.ts'
import { healthCheckWebhook } from './rules/health-check-webhook.ts'
import { memberAddress } from './rules/member-address.ts'
import { memberExtras } from './rules/member-extras.ts'
import { poolMembers } from './rules/pool-members.ts'
import { redirectSource, redirectTarget } from './rules/redirect.ts'
import { responseRule } from './rules/response-rule.ts'
import { rolloutSense } from './rules/rollout-sense.ts'
import { routingSettings } from './rules/routing-settings.ts'
import { serviceChain } from './rules/service-chain.ts'
import { serviceDomain } from './rules/service-domain.ts'
import { soaMinimum } from './rules/soa-minimum.ts'
import { windowSense } from './rules/window-sense.ts'
import { zoneNames } from './rules/zone-names.ts'

type AnyObjectRule = { [K in Kind]: ObjectRule<K> }[Kind]

/** Run once per content of a file. The kind of a rule says which objects it gets. */
export const objectRules = Object.freeze([
  serviceDomain,
  serviceChain,
  memberAddress,
  memberExtras,
  geoRules,
  poolMembers,
  healthCheckSense,
  healthCheckScript,
  healthCheckWebhook,
  zoneNames,
  soaMinimum,
  routingSettings,
  responseRule,
  redirectSource,
  redirectTarget,
  delegatedDomain,
  rolloutSense,
  windowSense,
] as const satisfies readonly AnyObjectRule[])
