// The table of object rules. Adding one means one file, one line here, one fixture.
import type { Report } from '#diagnostics/finding.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import type { ObjectRule } from './object-rule.ts'
import { delegatedDomain } from './delegated-domain.ts'
import { deliverySense } from './delivery-sense.ts'
import { geoRules } from './geo-rules.ts'
import { healthCheck, healthCheckCertificate, healthCheckTypes } from './health-check.ts'
import { memberAddress } from './member-address.ts'
import { memberHostname } from './member-hostname.ts'
import { memberExtras } from './member-extras.ts'
import { policyTest } from './policy-test.ts'
import { poolMembers } from './pool-members.ts'
import { recordCaa } from './record-caa.ts'
import { recordDmarc } from './record-dmarc.ts'
import { recordHosts } from './record-hosts.ts'
import { recordSize } from './record-size.ts'
import { recordSpf } from './record-spf.ts'
import { recordTypes } from './record-types.ts'
import { recordValues } from './record-values.ts'
import { redirectSource, redirectTarget } from './redirect.ts'
import { responseRule } from './response-rule.ts'
import { rolloutSense } from './rollout-sense.ts'
import { routingSettings } from './routing-settings.ts'
import { serviceChain } from './service-chain.ts'
import { serviceDomain } from './service-domain.ts'
import { serviceTtl } from './service-ttl.ts'
import { soaMinimum } from './soa-minimum.ts'
import { windowSense } from './window-sense.ts'
import { zoneNames } from './zone-names.ts'

type RuleOf = { readonly [K in Kind]: ObjectRule<K> }

const objectRules: readonly RuleOf[Kind][] = Object.freeze([
  serviceDomain,
  serviceTtl,
  serviceChain,
  memberAddress,
  memberHostname,
  memberExtras,
  geoRules,
  poolMembers,
  healthCheck,
  healthCheckCertificate,
  ...healthCheckTypes,
  zoneNames,
  soaMinimum,
  routingSettings,
  responseRule,
  redirectSource,
  redirectTarget,
  delegatedDomain,
  deliverySense,
  rolloutSense,
  windowSense,
  policyTest,
  recordValues,
  recordTypes,
  recordHosts,
  recordSize,
  recordCaa,
  recordSpf,
  recordDmarc,
])

/** The rules for objects of a kind. They are run once per content of a file. */
export function checksOf<K extends Kind>(
  kind: K,
  report: Report,
): ((object: ObjectOf[K]) => void)[] {
  const isOfKind = (rule: RuleOf[Kind]): rule is RuleOf[K] => rule.kind === kind
  return objectRules.filter(isOfKind).map((rule) => (object) => rule.check(object, report))
}
