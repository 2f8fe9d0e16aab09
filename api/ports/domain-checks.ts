// The port to checks of delegated domains: what the last one found, and one at once.
import type { Result } from '#lib/result.ts'
import type { DomainResult, Domains, OwnedDomain } from '#state/ports/domains.ts'
import type { StoreFailure } from '#state/ports/store-result.ts'

export interface DomainChecks extends Pick<Domains, 'results' | 'forget'> {
  /** In bounded time. `busy`: others wait already, or others of that tenant. */
  readonly verify: (domain: OwnedDomain) => Promise<Result<DomainResult, 'busy' | StoreFailure>>
}
