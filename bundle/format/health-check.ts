// The form of a health check in a bundle: canonical JSON, validated when it is read.
import { canonicalJson } from './canonical-json.ts'
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
  'grpc',
  'dns',
])

/** Fields that came later, with what holds where a bundle lacks them, as older ones do. */
export const laterFields = Object.freeze({
  httpMethod: 'GET',
  httpHeaders: {},
  httpExpectedStatuses: [],
  clientCertificate: '',
  grpcService: '',
  dnsName: '',
  dnsType: 'A',
  dnsRcode: 'NOERROR',
  dnsContains: '',
} as const satisfies Partial<HealthCheckModel>)

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
  webhookMethod: oneOf('POST', 'GET'),
  httpMethod: oneOf('GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'),
  httpHeaders: isTexts,
  httpExpectedStatuses: (value) => Array.isArray(value) && value.every(isStatusRange),
  clientCertificate: isText,
  grpcService: isText,
  dnsName: isText,
  dnsType: oneOf('A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'TXT'),
  dnsRcode: oneOf('NOERROR', 'NXDOMAIN', 'REFUSED', 'SERVFAIL', 'NOTIMP', 'FORMERR'),
  dnsContains: isText,
}

/** Without fields of later versions that say nothing: what did not change stays equal. */
export function healthCheckText(check: HealthCheckModel): string {
  const said = Object.entries(check).filter(([name, value]) => !isLaterDefault(name, value))
  return canonicalJson(Object.fromEntries(said))
}

function isLaterDefault(name: string, value: unknown): boolean {
  if (!Object.hasOwn(laterFields, name)) return false
  // Fields that hold a list or a map default to an empty one.
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === (laterFields as Readonly<Record<string, unknown>>)[name]
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
  const record: Record<string, unknown> = { ...laterFields, ...value }
  const isWhole = Object.entries(fields).every(([name, fits]) => fits(record[name]))
  return isWhole ? (record as unknown as HealthCheckModel) : undefined
}

function oneOf(...values: readonly string[]): (value: unknown) => boolean {
  return (value) => values.includes(value as string)
}

function isTexts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every(isText)
}

function isStatusRange(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(isCount)
}
