// The table of kinds of discovery.
import type { DiscoveryKind } from '#integrations/targets/kind.ts'
import { consul } from './kinds/consul.ts'
import { dns } from './kinds/dns.ts'
import { file } from './kinds/file.ts'
import { http } from './kinds/http.ts'
import { kubernetes } from './kinds/kubernetes.ts'
import { fleet } from './kinds/fleet.ts'

export const discoveryKinds: readonly DiscoveryKind[] = Object.freeze([
  file,
  http,
  dns,
  consul,
  kubernetes,
  fleet,
])

export function kindNamed(name: string): DiscoveryKind | undefined {
  return discoveryKinds.find((kind) => kind.name === name)
}
