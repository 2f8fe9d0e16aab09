// Servers that sign online: how each is configured for the benchmark's zone.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { bundleFiles } from '../data/encode-bundle.ts'
import { isInstalled, versionOf } from './program.ts'
import { peers, startGslbd, startPeer, staticZone, zone } from './servers.ts'
import type { Peer, RunningServer } from './servers.ts'

export const signingServers = Object.freeze(['unsigned', 'gslbd', 'knot', 'pdns'] as const)
export type SigningServer = (typeof signingServers)[number]

const algorithm = 13

/** Both sign with P-256, and deny by one record made for the query. */
const signers: Readonly<Record<'knot' | 'pdns', Peer>> = {
  knot: {
    ...peers.knot,
    files: (directory, port, names) => {
      const { 'etc/knot.conf': plain = '', ...more } = peers.knot.files(directory, port, names)
      return { ...more, 'etc/knot.conf': `${plain}    module: mod-onlinesign\n` }
    },
  },
  pdns: {
    binary: 'sh',
    args: (directory) => {
      const etc = join(directory, 'etc')
      const tool = `pdnsutil --config-dir=${etc}`
      const make = `${tool} create-bind-db ${etc}/dnssec.db && ${tool} secure-zone ${zone}`
      const narrow = `${tool} set-nsec3 ${zone} '1 0 0 -' narrow`
      return ['-c', `${make} && ${narrow} && exec pdns_server --config-dir=${etc}`]
    },
    files: (directory, port, names) => ({
      'etc/pdns.conf': `launch=bind
bind-config=${directory}/etc/named.conf
bind-dnssec-db=${directory}/etc/dnssec.db
local-address=127.0.0.1
local-port=${port}
socket-dir=${directory}/run
receiver-threads=1
distributor-threads=1
signing-threads=1
daemon=no
guardian=no
loglevel=3
`,
      'etc/named.conf': `zone "${zone}" { type master; file "${directory}/etc/zone"; };\n`,
      'etc/zone': staticZone(names),
    }),
  },
}

/** Debian's packages, and how to see that they are here. */
const packages = {
  knot: { knot: () => isInstalled('knotd') },
  pdns: {
    'pdns-server': () => ['pdns_server', 'pdnsutil'].every(isInstalled),
    'pdns-backend-bind': hasBindBackend,
  },
} as const

/** A module of its own in Debian; elsewhere it may be part of the program. */
function hasBindBackend(): boolean {
  if (globSync('/usr/lib{,64,/*}/pdns/libbindbackend.so').length > 0) return true
  return /\bbind\b/.test(versionOf('pdns_server', ['--version'], /Built-in modules:.*/))
}

/** Debian's packages that are not here; none: the server can be measured. */
export function missingPackages(name: SigningServer): readonly string[] {
  if (name === 'unsigned' || name === 'gslbd') return []
  return Object.entries(packages[name])
    .filter(([, isHere]) => !isHere())
    .map(([debian]) => debian)
}

/** @param names services of gslbd with four members each, addresses on other servers */
export async function startSigner(
  name: SigningServer,
  options: { readonly directory: string; readonly names: number; readonly core: number },
): Promise<RunningServer> {
  const { directory, names, core } = options
  if (name === 'unsigned' || name === 'gslbd') {
    const signing = name === 'gslbd' ? { signing: algorithm } : {}
    const spec = { services: names, pools: names, algorithm: 'failover', ...signing }
    const { paths } = await bundleFiles(directory, `signing-${name}`, spec)
    return startGslbd(paths, { core, keyDirectory: join(directory, 'keys') })
  }
  const peer = signers[name]
  return startPeer('knot', peer, { directory: join(directory, name), core }, (home, port) =>
    peer.files(home, port, names),
  )
}
