// Part: gets the certificate of an ACME server, and renews it. A job runs its looks.
import { createAcmeKeeper } from '#node/certificates/acme-keeper.ts'
import { createChallengeSolver } from '#node/certificates/challenge-solver.ts'
import { systemClock } from '#lib/clock.ts'
import { ok } from '#lib/result.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type {
  HasAcme,
  HasBundles,
  HasCertificates,
  HasCluster,
  HasDynamicDns,
  HasNode,
} from '#node/parts/part-outputs.ts'

type Needs = Given & HasDynamicDns & HasCertificates & HasNode & HasCluster & HasBundles

export const renewCertificates = (have: Needs): Outcome<HasAcme> => {
  const { settings, certificates, dynamicDns, node, inventory, textsDigest, log } = have
  if (certificates === null) return ok({ gives: { acme: null } })
  const solver = createChallengeSolver({
    ...{ dynamicDns, bundle: () => node.bundle(), inventory },
    textsDigest: () => (settings.api.enabled ? textsDigest() : null),
    propagationMs: settings.acme.propagationMs,
    ...{ clock: systemClock, log },
  })
  const acme = createAcmeKeeper(settings, { vault: certificates.vault, solver, log })
  return ok({ gives: { acme }, stop: () => acme.stop() })
}
