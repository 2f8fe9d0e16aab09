// Interprets a receiver's response: the message is taken, to be tried again, or refused for good.
import type { Result } from '#lib/result.ts'
import type { SendOutcome } from '#state/ports/alerts.ts'
import type { PostAnswer } from './post.ts'

/** Statuses that blame the message: it would be refused again. */
const finalStatuses: readonly number[] = [400, 413, 422]

export const sent: SendOutcome = Object.freeze({ ok: true })

export function failed(fault: string, isFinal = false): SendOutcome {
  return { ok: false, fault, isFinal }
}

export function outcomeOf(answer: Result<PostAnswer, string>): SendOutcome {
  if (!answer.ok) return failed(answer.error)
  const { status, contentType } = answer.value
  if (status >= 300 && status <= 399) {
    return failed(`HTTP ${status}: redirects are not followed; write the address that it leads to`)
  }
  if (status < 200 || status > 299) return failed(`HTTP ${status}`, finalStatuses.includes(status))
  // A web page, of a login or a proxy, was sent by no receiver of alerts.
  if (contentType === 'text/html') return failed('a web page answered: it is no receiver of alerts')
  return sent
}
