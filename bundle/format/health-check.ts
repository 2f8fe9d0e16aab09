// Health checks as a bundle stores them: canonical JSON, read back with care.
import type { HealthCheckModel } from './model.ts'

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isText = (value: unknown): boolean => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'

/** Beyond these, a socket throws and a timer fires at once. */
const isPort = (value: unknown): boolean => isCount(value) && (value as number) <= 65_535
const isTime = (value: unknown): boolean =>
  isCount(value) && (value as number) > 0 && (value as number) <= 0x7fff_ffff

const types: ReadonlySet<unknown> = new Set<HealthCheckModel['type']>([
  'tcp',
  'http',
  'icmp',
  'script',
  'webhook',
])

/** What each field must be; a newer compiler may know types that this node has not. */
const fields: Readonly<Record<keyof HealthCheckModel, (value: unknown) => boolean>> = {
  type: (value) => types.has(value),
  port: isPort,
  intervalMs: isTime,
  timeoutMs: isTime,
  httpPath: isText,
  httpHost: isText,
  httpExpectedStatus: isCount,
  httpContains: isText,
  tls: isFlag,
  insecureSkipVerify: isFlag,
  riseCount: isCount,
  fallCount: isCount,
  scoreWindow: (value) => isCount(value) && (value as number) <= 1_000,
  icmpCount: (value) => isCount(value) && (value as number) >= 1 && (value as number) <= 20,
  scriptPath: isText,
  scriptContent: isText,
  webhookURL: isText,
  webhookMethod: (value) => value === 'POST' || value === 'GET',
}

/** @returns undefined when the text is no health check that this version can run */
export function parseHealthCheck(text: string): HealthCheckModel | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const record = value as Record<string, unknown>
  const isWhole = Object.entries(fields).every(([name, fits]) => fits(record[name]))
  return isWhole ? (value as HealthCheckModel) : undefined
}
