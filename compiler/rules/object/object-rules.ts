// The table of object rules. A new one needs a function in the file of its theme, one line here,
// and one fixture.
import type { Report } from '#diagnostics/finding.ts'
import type { Kind, ObjectOf } from '#schemas/kinds.ts'
import type { ObjectRule } from './object-rule.ts'
import { geoRules, routingSettings } from './client-networks.ts'
import { deliverySense } from './delivery-sense.ts'
import { healthCheck, healthCheckCertificate, healthCheckTypes } from './health-check.ts'
import { recordMail } from './mail-records.ts'
import { rolloutSense, windowSense } from './overlays.ts'
import { policyTest } from './policy-test.ts'
import { memberAddress, memberExtras, memberHostname, poolMembers } from './pool-members.ts'
import { recordCaa } from './record-caa.ts'
import { recordHosts, recordSize, recordTypes, recordValues } from './records.ts'
import { redirectSource, redirectTarget } from './redirect.ts'
import { responseRule } from './response-rule.ts'
import { serviceChain, serviceDomain, serviceTtl } from './service.ts'
import { keyPolicies, listedZoneKeys } from './zone-keys.ts'
import { delegatedDomain, soaMinimum, zoneNames } from './zones.ts'

const objectRules: { readonly [K in Kind]?: readonly ObjectRule<K>[] } = Object.freeze({
  Service: [serviceDomain, serviceTtl, serviceChain],
  Pool: [
    ...[memberAddress, memberHostname, memberExtras, geoRules, poolMembers],
    ...[healthCheck, healthCheckCertificate, ...healthCheckTypes],
  ],
  Settings: [zoneNames, soaMinimum, keyPolicies, listedZoneKeys, routingSettings],
  ResponsePolicy: [responseRule],
  Redirect: [redirectSource, redirectTarget],
  DelegatedDomain: [delegatedDomain],
  Delivery: [deliverySense],
  Rollout: [rolloutSense],
  MaintenanceWindow: [windowSense],
  Test: [policyTest],
  Records: [...[recordValues, recordTypes, recordHosts, recordSize], ...[recordCaa, recordMail]],
})

/** The rules for objects of a kind. They run once per content of a file. */
export function checksOf<K extends Kind>(
  kind: K,
  report: Report,
): ((object: ObjectOf[K]) => void)[] {
  return (objectRules[kind] ?? []).map((rule) => (object) => rule(object, report))
}
