// Checks the settings and the environment of a node before it starts with them.
import { statSync } from 'node:fs'
import { devModeFault } from '#api/server/server.ts'
import { dashboardFault } from '#api/server/web-dashboard.ts'
import { missingSshFile } from '#gitops/source/git-transport.ts'
import { isSshUrl } from '#gitops/source/remote-url.ts'
import { systemClock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import { ClientCertificates } from '#health/probes/client-certificates.ts'
import { fingerprintOf, isErrorCode, sentenceOf } from '#inputs/geo/geo-file.ts'
import { openKeytab } from '#system/gss/security-context.ts'
import { redisFault } from '#state/ephemeral.ts'
import type { Io } from '#system/process/command.ts'
import { readBundleToken, readCertificateKey, readSecrets, weakKey } from '#process/data/secrets.ts'
import type { NodeSecrets } from '#process/data/secrets.ts'
import { readTrustedKeyList } from '#gitops/trust/key-files.ts'
import { roleFault } from '#settings/sections/bundle.ts'
import { asksForCertificate } from '#settings/sections/acme.ts'
import type { Settings } from '#settings/settings.ts'
import { licenceOptionsOf } from './licence.ts'
import { portClash, withoutEffect } from './clashing-settings.ts'
import { directoriesForFiles, geoPathsOf, gitAccess } from './named-files.ts'

interface StartFindings {
  /** Sentences: faults with which the node does not start. */
  readonly errors: readonly string[]
  /** Sentences: the node starts, but lacks something. */
  readonly warnings: readonly string[]
}

/** Everything that `serve` would report before it opens, writes or connects to anything. */
export async function checkStart(settings: Settings, env: Io['env']): Promise<StartFindings> {
  const { redis, license, api } = settings
  const clash = portClash(settings)
  const role = roleFault(settings.roles, settings.bundle)
  const licence = licenceOptionsOf(license)
  const ofApi = api.enabled ? checkApi(settings, env) : { errors: [], warnings: [] }
  const errors = [role, clash, redisFault(redis), licence.ok ? undefined : licence.error]
  return {
    errors: [
      ...errors.filter((one) => one !== undefined),
      ...ofApi.errors,
      ...faultOfCertificate(settings, env).filter((fault) => !ofApi.errors.includes(fault)),
      ...faultsOfPulling(settings, env),
      ...directoriesForFiles(settings),
    ],
    warnings: [
      ...ofApi.warnings,
      ...(await missingDatabases(settings)),
      ...unusableCertificates(settings),
      ...missingKeys(settings),
      ...(await unusableKeytab(settings)),
      ...withoutEffect(settings),
    ],
  }
}

/** The dashboard must not serve settings, which may hold passwords, or the audit log. */
export function faultOfDashboard(
  { api, dataDir, backup, gitops, file }: Settings,
  { auditLog }: Pick<NodeSecrets, 'auditLog'>,
): string | undefined {
  if (api.webuiPath === undefined) return undefined
  const files = [file ?? null, auditLog, gitops.allowedSigners].filter((path) => path !== null)
  return dashboardFault(api.webuiPath, { dataDir, others: [backup.directory, ...files] })
}

function checkApi(settings: Settings, env: Io['env']): StartFindings {
  const secrets = readSecrets(env)
  if (!secrets.ok) {
    const fault = faultOfDashboard(settings, { auditLog: null })
    return { errors: [secrets.error, ...(fault === undefined ? [] : [fault])], warnings: [] }
  }
  const { listenAddr, allowDevMode } = settings.api
  const isDevMode = secrets.value.apiKey === null
  const faults = [
    faultOfDashboard(settings, secrets.value),
    devModeFault({ isDevMode, listenAddr, allowDevMode }),
  ]
  const weakness = weakKey(secrets.value)
  return {
    errors: faults.filter((fault) => fault !== undefined),
    warnings: weakness === undefined ? [] : [weakness],
  }
}

/** Other nodes have the certificate from a control node, and need no key for it. */
function faultOfCertificate({ roles, acme }: Settings, env: Io['env']): readonly string[] {
  if (!roles.includes('control') || !asksForCertificate(acme)) return []
  const key = readCertificateKey(env)
  return key.ok ? [] : [key.error]
}

/** Faults of a node that pulls bundles from control nodes. */
function faultsOfPulling({ roles, bundle }: Settings, env: Io['env']): readonly string[] {
  if (roles.includes('control')) return []
  const token = readBundleToken(env)
  const keys = readTrustedKeyList(bundle.keys)
  return [...(token.ok ? [] : [token.error]), ...(keys.ok ? [] : [`bundle.keys: ${keys.error}`])]
}

/** What the library of Kerberos needs besides is found when a client comes. */
async function unusableKeytab({ dns }: Settings): Promise<string[]> {
  const { keytab } = dns.update.gssTsig
  if (keytab === undefined) return []
  const opened = await openKeytab(keytab)
  if (!opened.ok) return [`dns.update.gssTsig.keytab: ${opened.error}`]
  const isOpen = (statSync(keytab).mode & 0o007) !== 0
  return isOpen ? [`${keytab} is open to all users: chmod o-rwx ${keytab}`] : []
}

async function missingDatabases(settings: Settings): Promise<string[]> {
  const found: string[] = []
  for (const [setting, path] of Object.entries(geoPathsOf(settings))) {
    const print = await fingerprintOf(path)
    if (isErrorCode(print)) found.push(`${setting}: ${sentenceOf(path, print)}`)
  }
  return found
}

function unusableCertificates({ health }: Settings): string[] {
  if (!health.enabled) return []
  const { clientCertificates } = health
  const found: string[] = []
  const error = (fields: object): void => {
    const { clientCertificate, cert, key, reason } = fields as Record<string, string>
    const name = `health.clientCertificates.${clientCertificate}`
    found.push(`${name}: ${cert} with ${key} cannot be used (${reason})`)
  }
  const log: Log = { info: () => undefined, warn: () => undefined, error }
  const certificates = new ClientCertificates({ clientCertificates }, systemClock, log)
  for (const name of Object.keys(clientCertificates)) certificates.contextOf(name)
  return found
}

function missingKeys({ gitops }: Settings): string[] {
  if (!isSshUrl(gitops.url)) return []
  const missing = missingSshFile(gitAccess(gitops), gitops.url)
  return missing === undefined ? [] : [missing.reason]
}
