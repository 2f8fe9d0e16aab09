// Keeps the answer of the CA about the renewal of the certificate: one control node at a time asks,
// as often as the CA wants.
import type { Clock } from '#lib/clock.ts'
import type { Log } from '#lib/log.ts'
import type { Random } from '#lib/random.ts'
import { err, ok } from '#lib/result.ts'
import type { Result } from '#lib/result.ts'
import type { AcmeRenewal, AcmeState, IssuedCertificate } from './acme-state.ts'
import type { AskRenewal } from './ask-renewal.ts'
import type { OneCertificate } from './certificate-vault.ts'
import type { AcmeWish } from './pauses.ts'
import { askedAgainMs, chainMark, drawnIn, isAskDue } from './renewal-window.ts'
import { renewalAskLimits, renewalOf } from './renewal-window.ts'
import { isFor } from './renewal.ts'

interface RenewalAskerParts {
  readonly vault: Pick<OneCertificate, 'state' | 'nowMs' | 'change'>
  readonly wish: AcmeWish
  readonly authorities: () => Result<string | undefined, string>
  readonly askRenewal: AskRenewal
  readonly clock: Pick<Clock, 'nowMs'>
  readonly random: Random
  readonly log: Log
}

export class RenewalAsker {
  readonly #parts: RenewalAskerParts
  #asking: Promise<void> | undefined

  constructor(parts: RenewalAskerParts) {
    this.#parts = parts
  }

  /** Asks if it is time, without waiting for the answer. */
  look(signal: AbortSignal): void {
    if (this.#asking !== undefined || this.#due(this.#parts.vault.state) === null) return
    this.#asking = this.#ask(signal).finally(() => (this.#asking = undefined))
  }

  /** Resolves when no question is under way. */
  async idle(): Promise<void> {
    await this.#asking
  }

  /** The certificate to ask about; null: none. */
  #due({ certificate, renewal, holder }: AcmeState): IssuedCertificate | null {
    const { vault, wish } = this.#parts
    if (certificate === null || holder !== null || !isFor(certificate, wish)) return null
    return isAskDue(renewal, certificate, vault.nowMs()) ? certificate : null
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { vault, wish, authorities, askRenewal, log } = this.#parts
    const claimed = await vault.change((state) => {
      const certificate = this.#due(state)
      if (certificate === null) return err('it is not time any more')
      return ok({ ...state, renewal: this.#next(state, certificate, renewalAskLimits.claimMs) })
    })
    const ca = authorities()
    if (!claimed.ok || !ca.ok) return
    const { certificate } = claimed.value
    if (certificate === null) return
    const nowMs = (): number => vault.nowMs()
    const asked = { directory: wish.directory, chain: certificate.chain, ca: ca.value, signal }
    const said = await askRenewal({ ...asked, nowMs })
    if (signal.aborted) return
    if (!said.ok) log.info({ reason: said.error.message }, notSaid)
    await vault.change((state) => {
      if (state.certificate === null || chainMark(state.certificate) !== chainMark(certificate)) {
        return err('there is another certificate')
      }
      const wait = said.ok ? said.value.retryAfterMs : said.error.retryAfterMs
      const { usualMs, failedMs, mostMs } = renewalAskLimits
      const isUnknown = said.ok && said.value.window === null
      const usual = said.ok ? (isUnknown ? mostMs : usualMs) : failedMs
      const next = this.#next(state, certificate, askedAgainMs(wait, usual))
      if (!said.ok) return ok({ ...state, renewal: next })
      const { window } = said.value
      const drawn = window === null ? { atMs: null, window } : this.#drawn(window, next)
      return ok({ ...state, renewal: { ...next, ...drawn } })
    })
  }

  #drawn(
    window: NonNullable<AcmeRenewal['window']>,
    before: AcmeRenewal,
  ): Pick<AcmeRenewal, 'atMs' | 'window'> {
    const { random, log } = this.#parts
    const drawn = drawnIn(window, before, random.next() / 0x1_0000_0000)
    if (drawn.atMs !== before.atMs && drawn.atMs !== null) {
      const [from, to, at] = [window.startMs, window.endMs, drawn.atMs].map(textOf)
      log.info({ from, to, at, why: window.why }, 'the CA says when to renew the certificate')
    }
    return drawn
  }

  /** What is known, until the next question. */
  #next({ renewal }: AcmeState, certificate: IssuedCertificate, waitMs: number): AcmeRenewal {
    const known = renewalOf(renewal, certificate)
    const nextMs = Math.ceil(this.#parts.vault.nowMs() + waitMs)
    return { atMs: null, window: null, ...known, mark: chainMark(certificate), nextMs }
  }
}

const textOf = (ms: number): string => new Date(ms).toISOString()
const notSaid = 'the CA does not say when to renew the certificate; what is known of it stays'
