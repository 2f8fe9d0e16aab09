// The port to checks of delegated domains: what the last one found, and one at once.
import type { Result } from '#lib/result.ts'
import type { DomainClaim, DomainResult, Domains } from '#state/ports/domains.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'

export interface DomainChecks extends Pick<Domains, 'results' | 'forget'> {
  /** In bounded time. `busy`: others wait already. */
  readonly verify: (domain: DomainClaim) => Promise<Result<DomainResult, 'busy' | StoreFailure>>
}
