// Lists the files that the settings name: geo databases, files for SSH, and others.
import { statSync } from 'node:fs'
import type { GitAccess } from '#gitops/source/git-transport.ts'
import type { GeoSourceParts } from '#inputs/geo/geo-source.ts'
import { settingRows } from '#settings/schema.ts'
import type { Settings } from '#settings/settings.ts'

/** Paths of the configured geo databases, by setting. */
export function geoPathsOf({ geoip, asn, latency }: Settings): GeoSourceParts['paths'] {
  return {
    ...(geoip.dbPath === undefined ? {} : { 'geoip.dbPath': geoip.dbPath }),
    ...(asn.dbPath === undefined ? {} : { 'asn.dbPath': asn.dbPath }),
    ...(latency.geoipDBPath === undefined ? {} : { 'latency.geoipDBPath': latency.geoipDBPath }),
  }
}

export function gitAccess({ sshKey, knownHosts }: Settings['gitops']): GitAccess {
  const { PATH: searchPath = '', NODE_EXTRA_CA_CERTS: extraCasPath } = process.env
  return { keyPath: sshKey, knownHostsPath: knownHosts, searchPath, extraCasPath }
}

/** Settings whose paths are not files; every other path is one. */
const noFiles: ReadonlySet<string> = new Set([
  ...['dataDir', 'api.webuiPath', 'backup.directory', 'redirect.nginx.configDir'],
  ...['anycast.bird.socket', 'queryLog.socket'],
])

/**
 * Finds settings that name a directory where a file is expected.
 *
 * @returns sentences
 */
export function directoriesForFiles(settings: Settings): readonly string[] {
  return settingRows.flatMap(({ key, path, leaf }) => {
    if (leaf['x-kind'] !== 'path' || noFiles.has(key)) return []
    const named = valueAt(settings, path)
    if (typeof named !== 'string' || !isDirectory(named)) return []
    return [`${key}: ${named} is a directory; name a file in it`]
  })
}

function valueAt(settings: Settings, path: readonly string[]): unknown {
  let value: unknown = settings
  for (const name of path) value = (value as Readonly<Record<string, unknown>>)[name]
  return value
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
