// Gives the certificates of an ACME server to the listeners that use them.
import { certificatesIn } from '#integrations/acme/acme-state.ts'
import type { AcmeState } from '#integrations/acme/acme-state.ts'
import type { RedirectServer } from '#server/redirect/redirect-server.ts'
import type { GivenCertificates, GivenPairs } from '#server/tls/sources.ts'

/** Calls its listeners when a certificate changes, and not at each try to get one. */
export function givenBy(source: {
  readonly state: AcmeState
  readonly onChange: (handler: () => void) => void
}): GivenCertificates {
  const pairs = (): GivenPairs =>
    Object.fromEntries(
      [...certificatesIn(source.state)].flatMap(([entry, { certificate }]) =>
        certificate === null ? [] : [[entry, { cert: certificate.chain, key: certificate.key }]],
      ),
    )
  const chains = (): string => JSON.stringify(Object.entries(pairs()).map(([, { cert }]) => cert))
  return {
    pairs,
    onChange: (handler) => {
      let known = chains()
      source.onChange(() => {
        const now = chains()
        if (now === known) return
        known = now
        handler()
      })
    },
  }
}

/** Redirects over https use them from the next connection on. */
export function certifyRedirects(
  redirects: Pick<RedirectServer, 'certify'> | null,
  given: GivenCertificates | null,
): void {
  if (redirects === null || given === null) return
  redirects.certify(given.pairs())
  given.onChange(() => redirects.certify(given.pairs()))
}
