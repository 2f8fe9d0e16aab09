// Defines the port to checks of delegated domains: the last results, and a check at once.
import type { Result } from '#lib/result.ts'
import type { DomainResult, Domains, OwnedDomain } from '#state/ports/domains.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'

export interface DomainChecks extends Pick<Domains, 'results' | 'forget'> {
  /** Checks within bounded time. `busy`: too many wait, or the tenant has a check already. */
  readonly verify: (domain: OwnedDomain) => Promise<Result<DomainResult, 'busy' | StoreFailure>>
}
