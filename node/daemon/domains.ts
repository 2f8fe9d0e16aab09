// Part: the checks of delegated domains.
import { createNodeDomains } from '#node/compose/domains.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { HasDomains, HasGit, HasRecords } from '#node/parts/part-outputs.ts'

export const createDomains = (have: Given & HasRecords & HasGit): Outcome<HasDomains> => {
  const { settings, records, gitops, log } = have
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
