// Condition: an ACME server gives no new certificate, or the one in use ends soon.
import type { Condition } from '#alerts/condition.ts'
import type { RenewalFacts } from '#alerts/facts.ts'
import { operatorId } from '#state/ports/alerts.ts'

/** A renewal begins when a third of the time is left: below this it has failed for a while. */
const endingShare = 1 / 4

export const certificateRenewal: Condition = {
  name: 'certificate-renewal',
  severity: 'warning',
  audience: 'operator',
  isOfNode: false,
  // A server that is away for a moment is asked again meanwhile.
  holdMs: 600_000,
  clearMs: 0,
  says:
    'The ACME server of `acme` gives no new certificate, or the one in use ends within ' +
    '`alerts.expiryWarning`; an error where it has ended, or there never was one',
  find: (facts, { expiryWarningMs }) =>
    facts.renewals().flatMap((renewal) => {
      const { entry, failure, valid, names } = renewal
      const leftMs = valid === null ? 0 : valid.toMs - facts.nowMs()
      const lifeMs = valid === null ? 0 : valid.toMs - valid.fromMs
      const isEnding = valid !== null && leftMs <= Math.min(expiryWarningMs, lifeMs * endingShare)
      if (failure === null && !isEnding) return []
      const [first = ''] = names
      const more = names.length > 1 ? ` and ${names.length - 1} more` : ''
      const title = `the certificate of ${first}${more} is not renewed`
      const severity = leftMs <= 0 ? ('error' as const) : ('warning' as const)
      const subject = entry === '' ? 'acme' : `acme.certificates.${entry}`
      const detail = detailOf(renewal, leftMs)
      return [{ tenantId: operatorId, subject, title, detail, severity }]
    }),
}

function detailOf({ failure, valid, nextMs }: RenewalFacts, leftMs: number): string {
  const until = valid === null ? '' : new Date(valid.toMs).toISOString()
  const serves =
    valid === null
      ? 'There is none yet.'
      : leftMs <= 0
        ? `The one before ended at ${until}.`
        : `The one before serves until ${until}.`
  const again = nextMs === null ? '' : ` Tried again at ${new Date(nextMs).toISOString()}.`
  const why = failure === null ? 'No new one came.' : `${failure}.`
  return `${why} ${serves}${again}`
}
