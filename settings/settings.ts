// Merges the settings of this process: flags before environment before file before defaults.
import { readFileSync } from 'node:fs'
import { availableParallelism, hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseDuration } from '#lib/duration.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import { variable } from '#system/process/command.ts'
import { placeSentences, readSettingsText } from './file.ts'
import type { SettingValues } from './file.ts'
import type { Static } from '#lib/schema/type.ts'
import { settingRows } from './schema.ts'
import type { SettingRow, SettingsFile } from './schema.ts'
import { missingForOidc } from '#settings/sections/oidc.ts'
import { faultsOfAnycast } from '#settings/sections/anycast.ts'
import { faultsOfExternalDns } from '#settings/sections/external-dns.ts'
import { faultsOfQueryLog } from '#settings/sections/query-log.ts'
import { faultsOfAcme } from '#settings/sections/acme.ts'
import { missingFiles, missingForTls } from '#settings/sections/dns.ts'
import { faultsOfDiscovery } from '#settings/sections/discovery.ts'
import { missingForRedirect } from '#settings/sections/redirect.ts'
import { faultsOfTelemetry } from '#settings/sections/telemetry.ts'
import { faultsOfZonePush } from '#settings/pushes/zone-push.ts'
import { problemsOf } from './value.ts'

/**
 * The keys of the file, complete: durations in milliseconds (`poll` is `pollMs`), paths absolute.
 * Addresses of stores and of the repository may hold passwords: do not log.
 */
export interface Settings extends Static<typeof SettingsFile> {
  /** Absolute path of the settings file; undefined: there is none. This is not a setting itself. */
  readonly file: string | undefined
  /** A value whose key is missing here is the default. */
  readonly origins?: SettingOrigins
}

/** Settings that can be given outside the file. Flags are written without their dashes. */
export const overrides = [
  { key: 'acme.eab.hmacKey', env: 'GSLB_ACME_EAB_HMAC_KEY', flag: undefined },
  { key: 'dataDir', env: 'GSLB_DATA_DIR', flag: 'data-dir' },
  { key: 'database.url', env: 'GSLB_DATABASE_URL', flag: undefined },
  { key: 'gitops.branch', env: 'GSLB_GITOPS_BRANCH', flag: undefined },
  { key: 'gitops.url', env: 'GSLB_GITOPS_URL', flag: undefined },
  { key: 'logging.format', env: 'GSLB_LOG_FORMAT', flag: 'log-format' },
  { key: 'auth.oidc.clientSecret', env: 'GSLB_OIDC_CLIENT_SECRET', flag: undefined },
  { key: 'license.publicKey', env: 'GSLB_LICENSE_PUBLIC_KEY', flag: undefined },
  { key: 'license.serverURL', env: 'GSLB_LICENSE_SERVER_URL', flag: undefined },
  { key: 'redirect.cdn.apiToken', env: 'GSLB_REDIRECT_CDN_TOKEN', flag: undefined },
  { key: 'telemetry.otlp.headers', env: 'GSLB_OTLP_HEADERS', flag: undefined },
  { key: 'redis.url', env: 'GSLB_REDIS_URL', flag: undefined },
  { key: 'redis.sentinelPassword', env: 'GSLB_REDIS_SENTINEL_PASSWORD', flag: undefined },
  { key: 'state.nodeName', env: 'GSLB_NODE_NAME', flag: undefined },
  { key: 'logging.level', env: 'GSLB_LOG_LEVEL', flag: 'log-level' },
] as const
/** Where each value comes from, by key. */
type SettingOrigins = ReadonlyMap<string, 'file' | 'environment' | 'command line'>

type SettingFlag = NonNullable<(typeof overrides)[number]['flag']>

export interface SettingSources {
  /** Path of gslbd.yaml; absent: defaults. A file that is named must exist. */
  readonly file?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flags: Readonly<Partial<Record<SettingFlag, string | undefined>>>
}

/**
 * Reads and checks all settings. Errors: all faults, each a sentence with its place and what to do.
 */
export function loadSettings(sources: SettingSources): Result<Settings, string[]> {
  const fromFile = sources.file === undefined ? ok(new Map()) : readSettingsFile(sources.file)
  const fromOutside = readOverrides(sources)
  const problems = [
    ...(fromFile.ok ? [] : fromFile.error),
    ...(fromOutside.ok ? [] : fromOutside.error),
  ]
  if (!fromFile.ok || !fromOutside.ok) return err(problems)
  const fileDirectory = sources.file === undefined ? '.' : dirname(sources.file)
  const file = sources.file === undefined ? undefined : resolve(sources.file)
  const origins = originsOf(fromFile.value, fromOutside.value, sources)
  const settings = { ...settle(fromFile.value, fromOutside.value, fileDirectory), file, origins }
  const missing = [
    ...missingForOidc(settings.auth.oidc),
    ...missingForRedirect(settings.redirect),
    ...missingForTls(settings.dns),
    ...missingFiles('api.tls', settings.api.tls),
    ...faultsOfAcme(settings),
    ...faultsOfAnycast(settings.anycast),
    ...faultsOfDiscovery(settings),
    ...faultsOfZonePush(settings.zonePush),
    ...faultsOfQueryLog(settings.queryLog),
    ...faultsOfExternalDns(settings.externalDns, settings.api.enabled),
    ...faultsOfTelemetry(settings.telemetry),
  ]
  if (missing.length === 0) return ok(settings)
  return err(sources.file === undefined ? missing : placedSentences(sources.file, missing))
}

/** Sentences that begin with the key of a setting, with their places in the file. */
export function placedSentences(file: string, sentences: readonly string[]): string[] {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // It was there when it was read; without it there are no places.
  }
  return [...placeSentences(text, file, sentences)]
}

/** Finds where each setting comes from; a missing key means its default. */
function originsOf(
  file: SettingValues,
  outside: SettingValues,
  { flags }: SettingSources,
): SettingOrigins {
  const origins = new Map<string, 'file' | 'environment' | 'command line'>()
  for (const key of file.keys()) origins.set(key, 'file')
  for (const { key, flag } of overrides) {
    if (!outside.has(key)) continue
    const isFlag = flag !== undefined && flags[flag] !== undefined
    origins.set(key, isFlag ? 'command line' : 'environment')
  }
  return origins
}

/** Keys whose values differ, by whether SIGHUP applies them (`applied`) or only a restart does. */
export function changedSettings(
  before: Settings,
  after: Settings,
): { readonly applied: readonly string[]; readonly needRestart: readonly string[] } {
  const changed = settingRows.filter(
    (row) => JSON.stringify(settled(before, row)) !== JSON.stringify(settled(after, row)),
  )
  const keys = (reload: boolean): string[] =>
    changed.filter(({ leaf }) => (leaf['x-reload'] ?? false) === reload).map(({ key }) => key)
  return { applied: keys(true), needRestart: keys(false) }
}

/** Returns `before` with those changes of `after` that SIGHUP applies. */
export function reloadedSettings(before: Settings, after: Settings): Settings {
  const settings: Record<string, unknown> = {}
  for (const row of settingRows) {
    place(settings, row, settled(row.leaf['x-reload'] === true ? after : before, row))
  }
  const origins = new Map(before.origins)
  for (const { key, leaf } of settingRows) {
    if (leaf['x-reload'] !== true) continue
    const origin = after.origins?.get(key)
    if (origin === undefined) origins.delete(key)
    else origins.set(key, origin)
  }
  return { ...(settings as unknown as Settings), file: before.file, origins }
}

function readSettingsFile(file: string): Result<SettingValues, string[]> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return err([`${file}: ${whyUnreadable(error)}`])
  }
  return readSettingsText(text, file)
}

function whyUnreadable(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return unreadable[code ?? ''] ?? `the file cannot be read: ${message}`
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; create it, or name another with --settings',
  EACCES: 'this user may not read the file; change its permissions',
  EISDIR: 'this is a directory; name the settings file in it with --settings',
}

function readOverrides({ env, flags }: SettingSources): Result<SettingValues, string[]> {
  const values = new Map<string, string>()
  const problems: string[] = []
  for (const { key, env: name, flag } of overrides) {
    const row = settingRows.find((candidate) => candidate.key === key)
    const fromFlag = flag === undefined ? undefined : flags[flag]
    const value = fromFlag ?? variable(env, name)
    if (row === undefined || value === undefined) continue
    const faults = problemsOf(row, value, 'outside')
    const place = fromFlag === undefined ? `environment variable ${name}` : `--${flag ?? ''}`
    if (faults.length === 0) values.set(key, value)
    faults.forEach(({ sentence }) => problems.push(`${place}: ${sentence}`))
  }
  return problems.length === 0 ? ok(values) : err(problems)
}

/** Moves values to the names of `Settings`; a test checks that all have the right type. */
function settle(
  file: SettingValues,
  outside: SettingValues,
  fileDirectory: string,
): Omit<Settings, 'file'> {
  const settings: Record<string, unknown> = {}
  for (const row of settingRows) {
    const given = outside.get(row.key) ?? file.get(row.key)
    const isFromFile = !outside.has(row.key) && file.has(row.key)
    let value: unknown = given ?? row.leaf.default
    if (row.leaf['x-kind'] === 'path' && typeof value === 'string') {
      value = resolve(isFromFile ? fileDirectory : '.', value)
    }
    if (row.leaf['x-kind'] === 'duration') value = milliseconds(String(value))
    if (row.key === 'dns.threads') value ??= availableParallelism()
    if (row.key === 'state.nodeName') value ??= hostname()
    const name = namesInDataDir[row.key]
    if (name !== undefined) value ??= join(settings['dataDir'] as string, name)
    place(settings, row, value)
  }
  return settings as unknown as Omit<Settings, 'file'>
}

/** Defaults of paths. */
const namesInDataDir: Readonly<Record<string, string>> = {
  'bundle.keys': 'bundle_keys',
  'node.listFile': 'nodes',
  'gitops.allowedSigners': 'allowed_signers',
  'gitops.sshKey': 'ssh_key',
  'gitops.knownHosts': 'known_hosts',
}

function place(settings: Record<string, unknown>, row: SettingRow, value: unknown): void {
  let section = settings
  for (const name of row.path.slice(0, -1)) {
    section[name] ??= {}
    section = section[name] as Record<string, unknown>
  }
  section[settledName(row)] = value
}

/** The value in effect; for a duration, in milliseconds. */
export function settled(settings: Settings, row: SettingRow): unknown {
  let section: unknown = settings
  for (const name of row.path.slice(0, -1)) section = (section as Record<string, unknown>)[name]
  return (section as Record<string, unknown>)[settledName(row)]
}

function settledName(row: SettingRow): string {
  const name = row.path.at(-1) ?? ''
  return row.leaf['x-kind'] === 'duration' ? `${name}Ms` : name
}

function milliseconds(text: string): number {
  const parsed = parseDuration(text)
  // Values were checked when they were read; a test checks the defaults.
  return parsed.ok ? parsed.value : 0
}
