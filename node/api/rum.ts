// Composes real-user measurements for the API: the store, and the bundle that serves.
import { assert } from '#lib/assert.ts'
import type { RumView } from '#ports/rum-view.ts'
import type { Bundle } from '#bundle/format/bundle.ts'
import { parseAddress } from '#dns/address.ts'
import { rumMembers, rumTargetOf } from '#routing/rum/targets.ts'
import type { RumStore } from '#inputs/rum/rum-store.ts'

/** @param bundle the one that answers; undefined: there is none yet */
export function createNodeRum(store: RumStore, bundle: () => Bundle | undefined): RumView {
  let turn = 0
  return {
    targets: (domain, most) => {
      const serving = bundle()
      if (serving === undefined) return []
      const members = rumMembers(serving, domain)
      if (members.length <= most) return members.map((member) => rumTargetOf(serving, member))
      // Takes the next members at each call, around the end of the list.
      const first = turn % members.length
      turn = first + most
      const chosen = [...members, ...members].slice(first, first + most)
      assert(chosen.length === most, 'as many members are chosen as were asked for')
      return chosen.map((member) => rumTargetOf(serving, member))
    },
    ingest: (domain, address, samples) => {
      // The zone of a link-local address names an interface, and is no part of the address.
      const octets = parseAddress(address.split('%', 1)[0]!)
      if (!octets.ok) return null
      const serving = bundle()
      return serving === undefined ? 0 : store.ingest(serving, domain, octets.value, samples)
    },
    coverage: (counts) => store.status(counts),
    reports: (counts) => store.reportsByNetwork(counts),
  }
}
