// The files that the settings name for parts of a node: geo databases, and what SSH needs.
import type { SshAccess } from '#gitops/source/ssh-transport.ts'
import type { GeoSourceParts } from '#runtime/geo/geo-source.ts'
import type { Settings } from '#cli/settings/settings.ts'

/** Those that are set, by setting. */
export function geoPathsOf({ geoip, asn, latency }: Settings): GeoSourceParts['paths'] {
  return {
    ...(geoip.dbPath === undefined ? {} : { 'geoip.dbPath': geoip.dbPath }),
    ...(asn.dbPath === undefined ? {} : { 'asn.dbPath': asn.dbPath }),
    ...(latency.geoipDBPath === undefined ? {} : { 'latency.geoipDBPath': latency.geoipDBPath }),
  }
}

export function sshAccess({ sshKey, knownHosts }: Settings['gitops']): SshAccess {
  const searchPath = process.env['PATH'] ?? ''
  return { keyPath: sshKey, knownHostsPath: knownHosts, searchPath }
}
