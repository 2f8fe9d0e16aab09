// Part: the checks of delegated domains.
import { createNodeDomains } from '#node/compose/domains.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Part } from './part.ts'

export const createDomains: Part = ({ settings, records, gitops, log }) => {
  const domains = createNodeDomains({
    settings,
    store: records.state.atOnce.domains,
    config: gitops.config,
    clock: systemClock,
    log,
  })
  // Nobody can ask a node without an API for what only its own database knows.
  const isAsked = settings.api.enabled || settings.database.url !== ''
  const verifyDomains = async (): Promise<void> => (isAsked ? domains.look() : undefined)
  return ok({ gives: { domains, verifyDomains } })
}
