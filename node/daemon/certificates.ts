// Part: gets the certificates of an ACME server, and renews them. A job runs its looks.
import { setTimeout as delay } from 'node:timers/promises'
import { createNodeAcme } from '#node/certificates/acme-keeper.ts'
import { createChallengeSolver } from '#node/certificates/challenge-solver.ts'
import type { HttpChallenges } from '#node/certificates/challenge-solver.ts'
import { systemClock } from '#lib/clock.ts'
import { err, ok } from '#lib/result.ts'
import type { Given, Outcome } from '#node/parts/part.ts'
import type { Has } from '#node/parts/part-outputs.ts'

type OfAnswers = 'dynamicDns' | 'redirects' | 'node' | 'textsDigest'
type Needs = Given & Has<'certificates' | 'inventory' | OfAnswers>

/** A node of the role dns asks for them every ten seconds, a control node within five. */
const spreadMs = 15_000

export const renewCertificates = (have: Needs): Outcome<Has<'acme'>> => {
  const { settings, certificates, dynamicDns, node, inventory, textsDigest, log } = have
  answerChallenges(have)
  if (certificates === null) return ok({ gives: { acme: null } })
  const solver = createChallengeSolver({
    ...{ dynamicDns, bundle: () => node.bundle(), inventory },
    textsDigest: () => (settings.api.enabled ? textsDigest() : null),
    propagationMs: settings.acme.propagationMs,
    http: settings.redirect.acme ? httpChallenges(certificates, settings) : null,
    ...{ clock: systemClock, log },
    wait: (delayMs, signal) => delay(delayMs, undefined, { signal }),
  })
  const canProve = () => node.bundle() !== undefined
  const acme = createNodeAcme(settings, certificates.vault, { solver, canProve, log })
  return ok({ gives: { acme }, stop: () => acme.stop() })
}

function answerChallenges({ certificates, redirects }: Needs): void {
  certificates?.vault.onChange(({ challenges }) => redirects?.challenge(challenges))
}

/** They travel with the certificate. */
function httpChallenges(
  { vault }: NonNullable<Needs['certificates']>,
  { api, database }: Given['settings'],
): HttpChallenges {
  const isAlone = !api.enabled && database.url === ''
  return {
    publish: async (challenges) => {
      const changed = await vault.change((state) => ok({ ...state, challenges }))
      return changed.ok ? ok(null) : err(changed.error.message)
    },
    spreadMs: isAlone ? 0 : spreadMs,
  }
}
