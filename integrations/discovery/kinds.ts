// The table of kinds of discovery.
import type { DiscoveryKind } from '#integrations/targets/kind.ts'
import { file } from './kinds/file.ts'
import { http } from './kinds/http.ts'

export const discoveryKinds: readonly DiscoveryKind[] = Object.freeze([file, http])

export function kindNamed(name: string): DiscoveryKind | undefined {
  return discoveryKinds.find((kind) => kind.name === name)
}
