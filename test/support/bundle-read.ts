// The rows of a bundle by what they mean, so that tests need not know how they are laid out.
import {
  nodeFlags,
  poolOfService,
  serviceCell,
  serviceOfNode,
  zoneOfNode,
} from '#bundle/format/bundle.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { NodeCell } from '#bundle/format/cells.ts'
import { formatName } from '#dns/name.ts'

export { nodeFlags, poolOfService, serviceOfNode, zoneOfNode }

export function nameOfNode(bundle: Bundle, node: number): string {
  return formatName(bundle.names, bundle.nodeRow[node * NodeCell.Words + NodeCell.NameOffset])
}

/** The names of all nodes, by node. */
export function namesOf(bundle: Bundle): string[] {
  return Array.from({ length: bundle.counts.nodes }, (_, node) => nameOfNode(bundle, node))
}

export function nameOfZone(bundle: Bundle, zone: number): string {
  return nameOfNode(bundle, bundle.zoneNode[zone]!)
}

/** The columns of a service, without names and uid. */
export function serviceAt(bundle: Bundle, service: number) {
  return {
    domain: nameOfNode(bundle, bundle.serviceNode[service]!),
    algorithm: serviceCell(bundle, service, NodeCell.Algorithm),
    ttlSeconds: serviceCell(bundle, service, NodeCell.TtlSeconds),
    pool: poolOfService(bundle, service),
  }
}
