// Decides when a certificate is ordered: when the CA says, else at two thirds of its time, and not
// before the pause after a failure is over. Pure; by the clock of the database, against which a
// certificate may be skewed.
import type { AcmeState, IssuedCertificate } from './acme-state.ts'
import { renewalOf } from './renewal-window.ts'
import { isPausing, pauseLimits, replacedUntilMs } from './pauses.ts'
import type { AcmeWish } from './pauses.ts'

const renewalLimits = {
  /** A node that begins earlier leaves the others of the cluster, and of the CA, their time. */
  spreadShare: 1 / 20,
  /** With less than this part of its time left, it is renewed whatever the pace is. */
  lastShare: 1 / 6,
  /** No certificate is renewed earlier than this part of its time after it came, for that. */
  leastShare: 1 / 10,
  /** The same where the CA says that it is time, if it is less: a CA may be wrong. */
  soonestMs: 86_400_000,
} as const

type Known = Pick<AcmeState, 'certificate' | 'renewal'>

/** @returns in a few words why to order now; null: not now */
export function whyNow(state: AcmeState, wish: AcmeWish, nowMs: number): string | null {
  const why = whyAtAll(state, wish, nowMs)
  return why === null || isPausing(state.pauses, wish, nowMs) ? null : why
}

/** The same, without regard to pauses. */
export function whyAtAll(
  { certificate, renewal }: Known,
  wish: AcmeWish,
  nowMs: number,
): string | null {
  if (certificate === null) return 'there is none'
  if (!isFor(certificate, wish)) return 'other names, or another directory'
  if (nowMs < dueMs(certificate, renewal, nowMs)) return null
  const wantedMs = renewalOf(renewal, certificate)?.atMs ?? Number.POSITIVE_INFINITY
  return nowMs >= wantedMs ? 'the CA says that it is time' : 'two thirds of its time are over'
}

/** A certificate with more names serves as well, until it is renewed. */
export function isFor(certificate: AcmeWish, { directory, names }: AcmeWish): boolean {
  const has = new Set(certificate.names)
  return certificate.directory === directory && names.every((name) => has.has(name))
}

/** By both clocks: that of a node may have been wrong, and CAs date certificates back. */
export const isOlder = (one: IssuedCertificate, than: IssuedCertificate): boolean =>
  one.notBeforeMs < than.notBeforeMs && one.issuedAtMs < than.issuedAtMs

/** @returns a sentence, without its full stop, that settings of control nodes differ */
export function replacedFault(
  { certificate, pauses }: Pick<AcmeState, 'certificate' | 'pauses'>,
  wish: AcmeWish,
  nowMs: number,
): string | null {
  const untilMs = replacedUntilMs(pauses, wish, nowMs)
  if (untilMs === null || certificate === null || isFor(certificate, wish)) return null
  return (
    `another control node has asked for ${certificate.names.join(', ')} of ` +
    `${certificate.directory}, in the place of what acme of this node says: write the same names ` +
    `and directory on all control nodes; this node asks again at ${new Date(untilMs).toISOString()}`
  )
}

/**
 * The clock that noted when it came may have been ahead, and put right. One that stays ahead renews
 * more often, and never without end; nor does a CA that wants each at once.
 */
export function dueMs(
  certificate: IssuedCertificate,
  renewal: AcmeState['renewal'],
  nowMs: number,
): number {
  const { issuedAtMs, renewAtMs: pacedMs, notBeforeMs, notAfterMs } = certificate
  const lifeMs = Math.max(0, notAfterMs - notBeforeMs)
  const { lastShare, leastShare, soonestMs } = renewalLimits
  const cameMs = nowMs < issuedAtMs - pauseLimits.skewMs ? notBeforeMs : issuedAtMs
  const lastMs = Math.max(notAfterMs - lifeMs * lastShare, cameMs + lifeMs * leastShare)
  const wantedMs = renewalOf(renewal, certificate)?.atMs ?? null
  if (wantedMs === null) return Math.min(cameMs + (pacedMs - issuedAtMs), lastMs)
  const firstMs = cameMs + Math.min(lifeMs * leastShare, soonestMs)
  return Math.floor(Math.min(Math.max(wantedMs, firstMs), lastMs))
}

/**
 * By the clock that notes when it came, not by what the certificate says: a wrong clock renews at
 * the right pace all the same.
 *
 * @param draw 0 to 1
 */
export function renewAtMs(
  { notBeforeMs, notAfterMs }: Pick<IssuedCertificate, 'notBeforeMs' | 'notAfterMs'>,
  issuedAtMs: number,
  draw: number,
): number {
  const lifeMs = Math.max(0, notAfterMs - notBeforeMs)
  const share = 2 / 3 - draw * renewalLimits.spreadShare
  return Math.floor(issuedAtMs + lifeMs * share)
}
