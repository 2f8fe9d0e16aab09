// Parts: what the node keeps besides its configuration. Shared and short-lived (Redis or memory),
// or lasting (the database).
import { createNodeRecords } from '#cli/node/records.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import { createEphemeral } from '#state/ephemeral.ts'
import type { Part } from './part.ts'

/** What all keys of this program in Redis begin with. */
const prefix = 'gslbd:'

/** A Redis that is away is no error. */
export const openSharedState: Part = ({ settings: { redis }, log }) => {
  const shared = createEphemeral({ url: redis.url, prefix, clock: systemClock, log })
  if (!shared.ok) return shared
  return ok({ gives: { shared: shared.value }, stop: () => shared.value.close() })
}

export const keepRecords: Part = (deps) => {
  const { settings, log } = deps
  const takeQueries = (): ReadonlyMap<string, number> => deps.node.takeQueries()
  const records = createNodeRecords({ settings, takeQueries, clock: systemClock, log })
  return ok({ gives: { records }, stop: () => records.close() })
}
