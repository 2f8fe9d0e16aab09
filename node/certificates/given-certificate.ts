// Gives the certificate of an ACME server to the listeners that use it.
import type { AcmeState } from '#integrations/acme/acme-state.ts'
import type { RedirectServer } from '#server/redirect/redirect-server.ts'
import type { GivenCertificate } from '#server/tls/sources.ts'

/** Calls its listeners when the certificate changes, and not at each try to get one. */
export function givenBy(source: {
  readonly state: AcmeState
  readonly onChange: (handler: () => void) => void
}): GivenCertificate {
  const pair = (): ReturnType<GivenCertificate['pair']> => {
    const { certificate } = source.state
    return certificate === null ? null : { cert: certificate.chain, key: certificate.key }
  }
  return {
    pair,
    onChange: (handler) => {
      let known = pair()?.cert
      source.onChange(() => {
        const now = pair()?.cert
        if (now === known) return
        known = now
        handler()
      })
    },
  }
}

/** Redirects over https use it from the next connection on. */
export function certifyRedirects(
  redirects: Pick<RedirectServer, 'certify'> | null,
  given: GivenCertificate | null,
): void {
  if (redirects === null || given === null) return
  redirects.certify(given.pair())
  given.onChange(() => redirects.certify(given.pair()))
}
