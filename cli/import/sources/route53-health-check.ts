// The health check of a pool from those that Route 53 has for its sets.
import type { JsonObject } from '#compiler/yaml/text.ts'
import { fieldsOf, numberOf, textOf } from './export-document.ts'
import type { Fields } from './export-document.ts'

interface FoundCheck {
  readonly healthCheck?: JsonObject
  /** What differs from before, as a clause. */
  readonly complaint?: string
}

/** @param checks of `aws route53 list-health-checks`, if they were given */
export function route53HealthCheck(sets: readonly Fields[], checks: readonly Fields[]): FoundCheck {
  const ids = new Set(sets.map((set) => textOf(set['HealthCheckId'])))
  ids.delete('')
  if (ids.size === 0) {
    return { complaint: 'without a health check all members count as healthy; add one to the pool' }
  }
  const configs = checks
    .filter(({ Id }) => ids.has(textOf(Id)))
    .map(({ HealthCheckConfig }) => fieldsOf(HealthCheckConfig))
  const [first] = configs
  if (first === undefined) {
    const how = 'put the HealthChecks of "aws route53 list-health-checks" into the same object'
    return { complaint: `the export does not say what its health checks do; ${how}` }
  }
  const healthCheck = checkOf(first)
  if (healthCheck === undefined) {
    return { complaint: `a check of type ${textOf(first['Type'])} has nothing like it here` }
  }
  const texts = new Set(configs.map((config) => JSON.stringify(checkOf(config))))
  if (texts.size === 1) return { healthCheck }
  return { healthCheck, complaint: 'its sets have different health checks; a pool has one' }
}

function checkOf(config: Fields): JsonObject | undefined {
  const type = textOf(config['Type'])
  const [, scheme, match] = /^(HTTPS?|TCP)(_STR_MATCH)?$/.exec(type) ?? []
  if (scheme === undefined || config['Inverted'] === true) return undefined
  const tls = scheme === 'HTTPS'
  const host = textOf(config['FullyQualifiedDomainName'])
  const path = textOf(config['ResourcePath'])
  const http = {
    httpPath: path.startsWith('/') ? path : `/${path}`,
    // What Route 53 takes for healthy.
    httpExpectedStatuses: ['200-399'],
    ...(host === '' ? {} : { httpHost: host }),
    ...(match === undefined ? {} : { httpContains: textOf(config['SearchString']) }),
    ...(tls ? { tls } : {}),
  }
  return {
    type: scheme === 'TCP' ? 'tcp' : 'http',
    port: numberOf(config['Port']) ?? (tls ? 443 : 80),
    intervalMs: (numberOf(config['RequestInterval']) ?? 30) * 1_000,
    fallCount: numberOf(config['FailureThreshold']) ?? 3,
    ...(scheme === 'TCP' ? {} : http),
  }
}
